import { createHash } from 'node:crypto'
import { isLidUser, jidDecode, type proto, type UserFacingSocketConfig, type WASocket } from 'baileys'
import { makeRecentMap } from '../../caches/recent-map.ts'
import { userOf } from '../contacts/jids.ts'
import type { Acknowledgement } from './outcomes.ts'

type Repository = ReturnType<NonNullable<UserFacingSocketConfig['makeSignalRepository']>>

/** The JIDs of the devices that a message was encrypted for, and of those where that failed. */
export type FanOut = { encrypted: string[]; failed: string[] }

type Watched = FanOut & { mayLeave: () => Promise<unknown> }

const watched = new WeakMap<proto.IMessage, Watched>()

/**
 * Returns what `send` encrypted of this content: Baileys silently leaves out the devices that it cannot encrypt for.
 * Nothing leaves before `mayLeave` has resolved. If it rejects, `send` fails.
 */
export async function watchFanOut(
  content: proto.IMessage,
  send: () => Promise<unknown>,
  mayLeave: () => Promise<unknown>,
): Promise<FanOut> {
  const fanOut = { encrypted: [], failed: [], mayLeave }
  watched.set(content, fanOut)
  await send()
  return fanOut
}

/** Finds out for which message a socket encrypts. */
export type FanOutReports = {
  /** Call it before `relayMessage` is wrapped by anything else. */
  attachTo(sock: Pick<WASocket, 'relayMessage'>): void
  /** Wraps the work of a transaction. They run one at a time. */
  begin<Result>(work: () => Promise<Result>): () => Promise<Result>
  wrap(repository: Repository): Repository
}

export function makeFanOutReports(): FanOutReports {
  /** The message being passed to Baileys, which begins its transaction synchronously. */
  let given: Watched | undefined
  /** The message whose transaction is in progress. */
  let current: Watched | undefined
  /** Messages in progress whose transaction did not begin synchronously: their encryptions cannot be attributed. */
  let unattributed = 0

  return {
    attachTo(sock) {
      const { relayMessage } = sock
      sock.relayMessage = (jid, message, options) => {
        given = watched.get(message)
        const sending = relayMessage(jid, message, options)
        if (given) {
          given = undefined
          unattributed += 1
          const end = () => {
            unattributed -= 1
          }
          sending.then(end, end)
        }
        return sending
      }
    },

    begin(work) {
      const own = given
      given = undefined
      return async () => {
        current = own
        try {
          return await work()
        } finally {
          current = undefined
        }
      }
    },

    wrap: (repository) => ({
      ...repository,
      async encryptMessage(plain) {
        const fanOut = current
        // Otherwise the message would leave before `mayLeave` has resolved.
        if (!fanOut && unattributed > 0) throw new Error('Baileys began no transaction for a message')
        try {
          const ciphertext = await repository.encryptMessage(plain)
          await fanOut?.mayLeave()
          fanOut?.encrypted.push(plain.jid)
          return ciphertext
        } catch (error) {
          fanOut?.failed.push(plain.jid)
          throw error
        }
      },
    }),
  }
}

/**
 * `none`: nothing in the message is for the recipient. `part`: at least one of the recipient's devices was left out. The
 * sender's own devices do not count, unless they are the recipient.
 */
export function coverageOf(
  { encrypted, failed }: FanOut,
  recipient: string,
  own: (string | undefined)[],
): 'none' | 'part' | 'all' {
  const ownUsers = own.map(userOrNone)
  const isMeant = (jid: string) =>
    ownUsers.includes(userOrNone(recipient)) || !ownUsers.includes(userOrNone(jid))
  if (!encrypted.some(isMeant)) return 'none'
  return failed.some(isMeant) ? 'part' : 'all'
}

function userOrNone(jid: string | undefined): string | undefined {
  return jidDecode(jid)?.user
}

/** The device lists of recipients, and of the sender's account, that this device knows. */
export type DeviceLists = {
  /** Asks WhatsApp for them again before the next message to this recipient. */
  forget(recipient: string): Promise<void>
  /** Forgets them if the acknowledgement of a message says that it missed a device. */
  compare(recipient: string, fanOut: FanOut, acknowledgement: Acknowledgement): Promise<void>
}

const recipientsMax = 10_000

export function makeDeviceLists(sock: WASocket): DeviceLists {
  /** The hashes that were answered by asking again: if ours still differs, asking a second time does not help. */
  const answered = makeRecentMap<string, string>(recipientsMax)

  async function forget(recipient: string): Promise<void> {
    for (const jid of [recipient, sock.user?.id, sock.user?.lid]) {
      if (jid) await sock.userDevicesCache.del(userOf(jid))
    }
  }

  return {
    forget,
    async compare(recipient, { encrypted, failed }, { deviceHash, isMappingStale }) {
      // Most acknowledgements say neither.
      if (!deviceHash && !isMappingStale) return
      const own = isLidUser(recipient) ? sock.user?.lid : sock.user?.id
      const ours = deviceListHash([...encrypted, ...failed, ...(own ? [own] : [])])
      const isNews = deviceHash && deviceHash !== ours && answered.get(recipient) !== deviceHash
      if (!isNews && !isMappingStale) return
      await forget(recipient)
      if (deviceHash) answered.set(recipient, deviceHash)
    },
  }
}

/** In the form that WhatsApp compares: the devices of the recipient and of the sender, this one included. */
export function deviceListHash(jids: string[]): string {
  const names = jids.flatMap((jid) => {
    const { user, device = 0, server } = jidDecode(jid) ?? {}
    return user ? [`${user}.0:${device}@${server}`] : []
  })
  const digest = createHash('sha256')
    .update([...new Set(names)].sort().join(''))
    .digest()
  return `2:${digest.subarray(0, 6).toString('base64')}`
}
