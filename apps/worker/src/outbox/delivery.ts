import type { WaitingMessage } from '@wagate/db/queries/waiting-messages'
import type { WASocket } from 'baileys'
import type { DeviceContext } from '../context.ts'
import { watchFanOut } from '../session/fan-out.ts'
import { makeReachCheck } from './check-reach.ts'
import { contentOf } from './content.ts'
import { ensureRecipientSessions } from './ensure-recipient-sessions.ts'
import { makeRefusalHandler } from './handle-refusal.ts'
import type { AckResult, InFlight } from './in-flight.ts'
import type { MessageClaim } from './message-claims.ts'
import type { MessageResults } from './message-results.ts'
import type { OutboxDevice } from './outbox-device.ts'
import type { SendResult } from './send-result.ts'

/** Sends single messages through one socket and waits for WhatsApp's answers. */
export type Delivery = {
  /** Rejects when the message cannot be sent at present. */
  send(message: WaitingMessage, recipient: string, maySend: () => boolean): Promise<SendResult>
}

export function makeDelivery(
  context: DeviceContext,
  device: OutboxDevice,
  sock: WASocket,
  { inFlight, results }: { inFlight: InFlight; results: MessageResults },
): Delivery {
  const { lease, retries, addressees } = device
  const checkReach = makeReachCheck(sock)
  const handleRefusal = makeRefusalHandler(context, device, sock, results)

  async function relay(message: WaitingMessage, recipient: string, claim: MessageClaim): Promise<AckResult> {
    const content = await contentOf(device.vault, message)
    const stopTimer = context.metrics.acknowledgeSeconds.startTimer()
    const answer = inFlight.track({ waId: message.waId, recipient }, context.config.outbox.ackTimeoutMs)
    try {
      const send = () => sock.relayMessage(recipient, content, { messageId: message.waId })
      await checkReach(message, recipient, await watchFanOut(send))
    } catch (error) {
      inFlight.forget(message.waId)
      throw error
    } finally {
      await claim.releaseSuspect()
      message.interruptions = 0
    }
    const given = await answer
    context.metrics.sends.inc({ result: given.kind })
    if (given.kind === 'acknowledged') stopTimer()
    return given
  }

  return {
    async send(message, recipient, maySend) {
      await ensureRecipientSessions(sock, recipient)
      const setback = retries.setbackOf(message.id)
      const claim = await context.messageClaims.claim({
        ...message,
        fence: lease,
        recipientJid: recipient,
        setback,
      })
      if (!claim) return { kind: 'unclaimed' }
      message.recipientJid = recipient
      addressees.note(message.waId, recipient)
      if (claim.isPoison) {
        claim.end()
        await results.fail(message, 'message_stops_workers')
        return { kind: 'failed' }
      }
      if (!maySend()) {
        claim.end()
        return { kind: 'retry' }
      }
      const answer = await relay(message, recipient, claim)
      if (answer.kind === 'acknowledged') return { kind: 'acknowledged' }
      if (answer.kind === 'refused') return handleRefusal(message, recipient, answer.code)
      return { kind: 'retry', setback: answer.kind }
    },
  }
}
