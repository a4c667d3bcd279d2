import { AsyncLocalStorage } from 'node:async_hooks'
import { jidDecode, type UserFacingSocketConfig } from 'baileys'

type Repository = ReturnType<NonNullable<UserFacingSocketConfig['makeSignalRepository']>>

/** The JIDs of the devices that a message was encrypted for, and of those where that failed. */
export type FanOut = { encrypted: string[]; failed: string[] }

const present = new AsyncLocalStorage<FanOut & { mayLeave: () => Promise<unknown> }>()

/**
 * Returns what `send` encrypted: Baileys silently leaves out the devices that it cannot encrypt for. Nothing leaves before
 * `mayLeave` has resolved. If it rejects, `send` fails.
 */
export async function watchFanOut(
  send: () => Promise<unknown>,
  mayLeave: () => Promise<unknown>,
): Promise<FanOut> {
  const fanOut = { encrypted: [], failed: [], mayLeave }
  await present.run(fanOut, send)
  return fanOut
}

export function reportFanOut(repository: Repository): Repository {
  return {
    ...repository,
    async encryptMessage(given) {
      const watched = present.getStore()
      try {
        const ciphertext = await repository.encryptMessage(given)
        await watched?.mayLeave()
        watched?.encrypted.push(given.jid)
        return ciphertext
      } catch (error) {
        watched?.failed.push(given.jid)
        throw error
      }
    },
  }
}

/**
 * `none`: nothing in the message is for the recipient. `part`: at least one of the recipient's devices was left out. The
 * sender's own devices do not count, unless they are the recipient.
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
