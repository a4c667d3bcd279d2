import { setRestricted } from '@wagate/db/queries/device-connection'
import type { WaitingMessage } from '@wagate/db/queries/waiting-messages'
import type { MessageErrorCode } from '@wagate/shared/error-codes'
import type { WASocket } from 'baileys'
import type { DeviceContext } from '../context.ts'
import { type FanOut, reachOf, watchFanOut } from '../session/fan-out.ts'
import type { Outcome } from '../session/outcomes.ts'
import { untilStored } from '../until-stored.ts'
import { contentOf } from './content.ts'
import type { Hold } from './holds.ts'
import { userOf } from './look-up.ts'
import { meetRecipient } from './meet-recipient.ts'
import { type Answer, type ConnectionEnd, makeOnWire } from './on-wire.ts'
import type { OutboxDevice } from './outbox-device.ts'
import type { Setback } from './retries.ts'

/**
 * `unclaimed`: canceled, or the shard has another owner. `restricted`: it failed, and so would others to new
 * contacts. `retry`: to be sent again, under the same id; at once without a setback.
 */
export type SendResult =
  | { kind: 'acknowledged' | 'failed' | 'restricted' | 'unclaimed' }
  | { kind: 'retry'; setback?: Setback; sentence?: string }

/** Takes single messages through one socket and finds out what became of them. */
export type Delivery = {
  /** Rejects when it could not be sent for now. */
  send(message: WaitingMessage, recipient: string, maySend: () => boolean): Promise<SendResult>
  /** Records that it can never be sent. */
  fail(message: WaitingMessage, code: MessageErrorCode, sentence?: string): Promise<void>
  /** Records that WhatsApp took it. */
  recordSent(message: WaitingMessage): Promise<void>
  /** WhatsApp said something about a message of this device. False when no answer for it was expected. */
  settle(waId: string, outcome: Outcome): boolean
  close(end: ConnectionEnd): void
}

/** WhatsApp, or the way to it, is overloaded or limits the sender. Other codes are about the message. */
const temporaryCodes = ['408', '429', '500', '503']
/** The sender may not write to new contacts at the moment, or to no more of them. */
const restrictionCodes = ['463', '475']

export function makeDelivery(context: DeviceContext, device: OutboxDevice, sock: WASocket): Delivery {
  const { lease, recorder, retries, addressees } = device
  const onWire = makeOnWire()
  /** Messages that were refused for stale device data once already. */
  const refreshed = new Set<string>()

  /** Messages that left out a device of their recipient once already. */
  const incomplete = new Set<string>()

  async function relay(message: WaitingMessage, recipient: string, hold: Hold): Promise<Answer> {
    const content = await contentOf(device.vault, message)
    const stopTimer = context.metrics.acknowledgeSeconds.startTimer()
    const answer = onWire.expect({ waId: message.waId, recipient }, context.config.SEND_ACK_TIMEOUT_MS)
    try {
      const send = () => sock.relayMessage(recipient, content, { messageId: message.waId })
      await checkReach(message, recipient, await watchFanOut(send))
    } catch (error) {
      onWire.forget(message.waId)
      throw error
    } finally {
      await hold.unmarkSuspect()
      message.interruptions = 0
    }
    const given = await answer
    context.metrics.sends.inc({ result: given.kind })
    if (given.kind === 'acknowledged') stopTimer()
    return given
  }

  /** WhatsApp acknowledges a message also when nothing in it is for the recipient. */
  async function checkReach(message: WaitingMessage, recipient: string, fanOut: FanOut): Promise<void> {
    const reach = reachOf(fanOut, recipient, [sock.user?.id, sock.user?.lid])
    // A device whose keys are bad for good must not keep the others from their messages.
    if (reach === 'all' || (reach === 'part' && incomplete.has(message.id))) return
    incomplete.add(message.id)
    await sock.userDevicesCache.del(userOf(recipient))
    throw new Error('The message could not be encrypted for every device of its recipient')
  }

  async function handleRefusal(
    message: WaitingMessage,
    recipient: string,
    code: string,
  ): Promise<SendResult> {
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
      const pauseMs = context.config.RESTRICTION_PAUSE_MS
      await untilStored(() => setRestricted(context.db, lease, device.id, pauseMs), lease, context.logger)
      await fail(message, 'sender_restricted')
      return { kind: 'restricted' }
    }
    await fail(message, 'rejected_by_whatsapp', `WhatsApp refused the message (error ${code}).`)
    return { kind: 'failed' }
  }

  async function fail(message: WaitingMessage, code: MessageErrorCode, sentence?: string): Promise<void> {
    await recorder.fail(message, code, sentence)
    context.metrics.failures.inc({ code })
    announce(message, 'failed')
  }

  /** To a request that waits for it. */
  function announce({ id }: WaitingMessage, status: 'sent' | 'failed'): void {
    void context.events.publish(device.id, { kind: 'message', messageId: id, status })
  }

  return {
    async send(message, recipient, maySend) {
      await meetRecipient(sock, recipient)
      const setback = retries.setbackOf(message.id)
      const hold = await context.holds.take({ ...message, fence: lease, recipientJid: recipient, setback })
      if (!hold) return { kind: 'unclaimed' }
      message.recipientJid = recipient
      addressees.note(message.waId, recipient)
      if (hold.isPoison) {
        hold.end()
        await fail(message, 'message_stops_workers')
        return { kind: 'failed' }
      }
      if (!maySend()) {
        hold.end()
        return { kind: 'retry' }
      }
      const answer = await relay(message, recipient, hold)
      if (answer.kind === 'acknowledged') return { kind: 'acknowledged' }
      if (answer.kind === 'refused') return handleRefusal(message, recipient, answer.code)
      return { kind: 'retry', setback: answer.kind }
    },
    fail,
    async recordSent(message) {
      await recorder.record(message.waId, 'sent', new Date(), message)
      announce(message, 'sent')
    },
    settle: onWire.settle,
    close: onWire.closeAll,
  }
}
