import type { WASocket } from '../session/connection/socket.ts'
import { userOf } from '../session/contacts/jids.ts'
import { isQueryLimit, watchQueryLimits } from '../session/contacts/query-limits.ts'
import type { NumberResolver } from './number-resolver.ts'

/** WhatsApp limits look-ups of this sender. Messages to recipients whose devices are known may be sent. */
export class LookUpsPaused extends Error {
  readonly retryAfterMs: number

  constructor(retryAfterMs: number, cause?: unknown) {
    super('WhatsApp limits look-ups of this sender.', { cause })
    this.name = 'LookUpsPaused'
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * Fetches the devices of a recipient to whom the sender has not written yet, and establishes Signal sessions with them.
 * Baileys would do so during the send, while holding the sender's lock, which would block its other messages.
 */
export function makeEnsureRecipientSessions(
  sock: WASocket,
  resolver: Pick<NumberResolver, 'pausedMs' | 'notePause' | 'noteAnswered'>,
): (recipient: string) => Promise<void> {
  const limits = watchQueryLimits(sock)

  return async (recipient) => {
    if (await sock.userDevicesCache.get(userOf(recipient))) return
    if (resolver.pausedMs() > 0) throw new LookUpsPaused(resolver.pausedMs())
    try {
      const devices = await sock.getUSyncDevices([recipient], true, false)
      resolver.noteAnswered()
      if (devices.length === 0) throw new Error('WhatsApp named no device of the recipient')
      await sock.assertSessions(devices.map(({ jid }) => jid))
    } catch (error) {
      // Known devices stand for sessions with them.
      await sock.userDevicesCache.del(userOf(recipient))
      if (!isQueryLimit(error)) throw error
      // Look-ups that were under way together are one refusal.
      if (resolver.pausedMs() === 0) resolver.notePause(limits.backoffMs())
      throw new LookUpsPaused(resolver.pausedMs(), error)
    }
  }
}
