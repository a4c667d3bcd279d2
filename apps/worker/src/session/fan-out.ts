import { AsyncLocalStorage } from 'node:async_hooks'
import { jidDecode, type UserFacingSocketConfig } from 'baileys'

type Repository = ReturnType<NonNullable<UserFacingSocketConfig['makeSignalRepository']>>

/** For which devices a message was encrypted, as jids. */
export type FanOut = { encrypted: string[]; failed: string[] }

const present = new AsyncLocalStorage<FanOut>()

/** Baileys leaves out the devices that it could not encrypt for, and says nothing. This tells what `send` encrypted. */
export async function watchFanOut(send: () => Promise<unknown>): Promise<FanOut> {
  const fanOut: FanOut = { encrypted: [], failed: [] }
  await present.run(fanOut, send)
  return fanOut
}

export function reportFanOut(repository: Repository): Repository {
  return {
    ...repository,
    async encryptMessage(given) {
      try {
        const ciphertext = await repository.encryptMessage(given)
        present.getStore()?.encrypted.push(given.jid)
        return ciphertext
      } catch (error) {
        present.getStore()?.failed.push(given.jid)
        throw error
      }
    },
  }
}

/**
 * `none`: nothing in it is for the recipient. `part`: at least one of the recipient's devices was left out. What is for
 * the sender's own devices does not count, unless they are the recipient.
 */
export function reachOf(
  { encrypted, failed }: FanOut,
  recipient: string,
  own: (string | undefined)[],
): 'none' | 'part' | 'all' {
  const ownUsers = own.map(userOf)
  const isMeant = (jid: string) => ownUsers.includes(userOf(recipient)) || !ownUsers.includes(userOf(jid))
  if (!encrypted.some(isMeant)) return 'none'
  return failed.some(isMeant) ? 'part' : 'all'
}

function userOf(jid: string | undefined): string | undefined {
  return jidDecode(jid)?.user
}
