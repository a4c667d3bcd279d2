import { setRestricted } from '@wagate/db/queries/device-state'
import type { WaitingMessage } from '@wagate/db/queries/outbox'
import type { MessageErrorCode } from '@wagate/shared/error-codes'
import type { WASocket } from 'baileys'
import type { DeviceContext } from '../context.ts'
import type { Outcome } from '../session/outcomes.ts'
import { untilStored } from '../until-stored.ts'
import { contentOf } from './content.ts'
import { userOf } from './look-up.ts'
import { meetRecipient } from './meet-recipient.ts'
import { type Answer, makeOnWire } from './on-wire.ts'
import type { OutboxDevice } from './outbox.ts'

/**
 * `unclaimed`: canceled, or the shard has another owner. `unanswered`: to be sent again, under the same id.
 * `restricted`: it failed, and so would others to new contacts.
 */
export type Result = 'acknowledged' | 'failed' | 'restricted' | 'unclaimed' | 'unanswered'

/** Takes single messages through one socket and finds out what became of them. */
export type Delivery = {
  /** Rejects when it could not be sent for now. */
  send(message: WaitingMessage, recipient: string, maySend: () => boolean): Promise<Result>
  /** Records that it can never be sent. */
  fail(message: WaitingMessage, code: MessageErrorCode, sentence?: string): Promise<void>
  /** Records that WhatsApp took it. */
  recordSent(message: WaitingMessage): Promise<void>
  /** WhatsApp said something of a message of this device. */
  settle(waId: string, outcome: Outcome): void
  close(): void
}

export function makeDelivery(context: DeviceContext, device: OutboxDevice, sock: WASocket): Delivery {
  const { lease, recorder } = device
  const onWire = makeOnWire()
  /** Messages that were refused for stale device data once already. */
  const refreshed = new Set<string>()

  async function relay(message: WaitingMessage, recipient: string): Promise<Answer> {
    const content = await contentOf(device.vault, message)
    const stopTimer = context.metrics.acknowledgeSeconds.startTimer()
    const answer = onWire.expect(message.waId, context.config.SEND_ACK_TIMEOUT_MS)
    try {
      await sock.relayMessage(recipient, content, { messageId: message.waId })
    } catch (error) {
      onWire.forget(message.waId)
      throw error
    }
    const given = await answer
    context.metrics.sends.inc({ result: given.kind })
    if (given.kind === 'acknowledged') stopTimer()
    return given
  }

  async function handleRefusal(message: WaitingMessage, recipient: string, code: string): Promise<Result> {
    if (code === '479' && !refreshed.has(message.id)) {
      // The recipient's devices changed since we asked for them: once more with fresh ones.
      refreshed.add(message.id)
      await sock.userDevicesCache.del(userOf(recipient))
      return 'unanswered'
    }
    if (code === '463') {
      // Sending on to new contacts would make the restriction worse.
      const pauseMs = context.config.RESTRICTION_PAUSE_MS
      await untilStored(() => setRestricted(context.db, lease, device.id, pauseMs), lease, context.logger)
      await fail(message, 'sender_restricted')
      return 'restricted'
    }
    await fail(message, 'rejected_by_whatsapp', `WhatsApp refused the message (error ${code}).`)
    return 'failed'
  }

  async function fail(message: WaitingMessage, code: MessageErrorCode, sentence?: string): Promise<void> {
    await recorder.fail(message.waId, code, sentence)
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
      const isClaimed = await context.claims.add({ ...message, fence: lease, recipientJid: recipient })
      if (!isClaimed) return 'unclaimed'
      if (!maySend()) return 'unanswered'
      const answer = await relay(message, recipient)
      if (answer.kind === 'refused') return handleRefusal(message, recipient, answer.code)
      return answer.kind === 'acknowledged' ? 'acknowledged' : 'unanswered'
    },
    fail,
    async recordSent(message) {
      await recorder.record(message.waId, 'sent', new Date())
      announce(message, 'sent')
    },
    settle: onWire.settle,
    close: onWire.closeAll,
  }
}
