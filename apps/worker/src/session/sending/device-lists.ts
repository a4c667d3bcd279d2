import { createHash } from 'node:crypto'
import { isLidUser, jidDecode, type WASocket } from 'baileys'
import { makeRecentMap } from '../../caches/recent-map.ts'
import { userOf } from '../contacts/jids.ts'
import type { FanOut } from './fan-out.ts'
import type { Acknowledgement } from './outcomes.ts'

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
