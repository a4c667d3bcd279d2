import { setRestricted } from '@wagate/db/queries/device-connection'
import type { WaitingMessage } from '@wagate/db/queries/waiting-messages'
import type { WASocket } from 'baileys'
import type { DeviceContext } from '../context.ts'
import { untilStored } from '../until-stored.ts'
import { userOf } from './look-up.ts'
import type { MessageResults } from './message-results.ts'
import type { OutboxDevice } from './outbox-device.ts'
import type { SendResult } from './send-result.ts'

/** WhatsApp, or the way to it, is overloaded or limits the sender. Other codes are about the message. */
const temporaryCodes = ['408', '429', '500', '503']
/** The sender may not write to new contacts at the moment, or to no more of them. */
const restrictionCodes = ['463', '475']

/** Decides what follows an acknowledgement with an error. */
export function makeRefusalHandler(
  context: DeviceContext,
  { id, lease }: OutboxDevice,
  sock: WASocket,
  { fail }: MessageResults,
): (message: WaitingMessage, recipient: string, code: string) => Promise<SendResult> {
  /** Messages that were refused for stale device data once already. */
  const refreshed = new Set<string>()

  return async (message, recipient, code) => {
    if (code === '479' && !refreshed.has(message.id)) {
      // The recipient's devices, or the sender's own, changed since we asked for them: once more with fresh ones.
      refreshed.add(message.id)
      for (const jid of [recipient, sock.user?.id, sock.user?.lid]) {
        if (jid) await sock.userDevicesCache.del(userOf(jid))
      }
      return { kind: 'retry' }
    }
    if (temporaryCodes.includes(code)) {
      const sentence = `WhatsApp refused it for the time being (error ${code}).`
      return { kind: 'retry', setback: 'refused', sentence }
    }
    if (restrictionCodes.includes(code)) {
      // Sending on to new contacts would make the restriction worse.
      const pauseMs = context.config.outbox.restrictionPauseMs
      await untilStored(() => setRestricted(context.db, lease, id, pauseMs), lease, context.logger)
      await fail(message, 'sender_restricted')
      return { kind: 'restricted' }
    }
    await fail(message, 'rejected_by_whatsapp', `WhatsApp refused the message (error ${code}).`)
    return { kind: 'failed' }
  }
}
