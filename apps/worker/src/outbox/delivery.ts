import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import type { DeviceContext } from '../context.ts'
import { refusalLabel } from '../metrics.ts'
import type { WASocket } from '../session/connection/socket.ts'
import { makeDeviceLists } from '../session/sending/device-lists.ts'
import { type FanOut, watchFanOut } from '../session/sending/fan-out.ts'
import type { Acknowledgement } from '../session/sending/outcomes.ts'
import { makeFanOutCheck } from './check-fan-out.ts'
import { contentOf } from './content.ts'
import { makeEnsureRecipientSessions } from './ensure-recipient-sessions.ts'
import { makeRefusalHandler } from './handle-refusal.ts'
import type { AckResult, InFlight } from './in-flight.ts'
import type { MessageClaim } from './message-claims.ts'
import type { MessageResults } from './message-results.ts'
import type { OutboxDevice } from './outbox-device.ts'
import { makeSendClaims, NotSent } from './send-claims.ts'
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
  const deviceLists = makeDeviceLists(sock)
  const checkFanOut = makeFanOutCheck(sock, deviceLists)
  const ensureRecipientSessions = makeEnsureRecipientSessions(sock, device.resolver)
  const handleRefusal = makeRefusalHandler({ device, sock, deviceLists, results })
  const beginClaim = makeSendClaims(context, device, results)

  async function compareDevices(recipient: string, fanOut: FanOut, given: Acknowledgement): Promise<void> {
    try {
      await deviceLists.compare(recipient, fanOut, given)
    } catch (error) {
      // The message is sent, and a later acknowledgement says the same.
      context.logger.warn({ err: error, deviceId: device.id }, 'Forgetting stale device lists failed')
    }
  }

  /** The pause may have begun after the message was read, while it was prepared, or between two attempts. */
  function refuseWhilePaused(message: WaitingMessage): void {
    if (device.firstContacts.areActive() && !message.isToContact) throw new NotSent('paused')
  }

  async function relay(
    message: WaitingMessage,
    recipient: string,
    claim: () => Promise<MessageClaim>,
  ): Promise<AckResult> {
    const keys = { vault: device.vault, creds: sock.authState.creds }
    const content = await contentOf(keys, message, recipient)
    const stopTimer = context.metrics.acknowledgeSeconds.startTimer()
    const answer = inFlight.track({ waId: message.waId, recipient }, context.config.outbox.ackTimeoutMs)
    const claiming = claim()
    // It may fail while the message is still being encrypted, when nobody awaits it yet.
    claiming.catch(() => undefined)
    let fanOut: FanOut
    try {
      const send = () => sock.relayMessage(recipient, content, { messageId: message.waId })
      fanOut = await watchFanOut(content, send, () => claiming)
      device.recipientPace.noteSent(recipient)
    } catch (error) {
      inFlight.forget(message.waId)
      // Baileys only tells that it could not encrypt.
      await claiming
      throw error
    } finally {
      await claiming.then(
        ({ releaseSuspect }) => releaseSuspect(),
        () => undefined,
      )
      message.interruptions = 0
    }
    const given = await answer
    context.metrics.sends.inc({ result: given.kind })
    if (given.kind === 'refused') context.metrics.refusals.inc({ code: refusalLabel(given.code) })
    // Not earlier: an acknowledgement after the end of its attempt spares the message the next one.
    await checkFanOut(message, recipient, fanOut)
    if (given.kind === 'acknowledged') {
      stopTimer()
      await compareDevices(recipient, fanOut, given)
    }
    return given
  }

  async function attempt(
    message: WaitingMessage,
    recipient: string,
    maySend: () => boolean,
  ): Promise<SendResult> {
    refuseWhilePaused(message)
    await ensureRecipientSessions(recipient)
    refuseWhilePaused(message)
    const { early, claim } = await beginClaim(message, recipient)
    if (!maySend()) {
      early?.end()
      return { kind: 'retry' }
    }
    const answer = await relay(message, recipient, claim)
    if (answer.kind === 'acknowledged') return { kind: 'acknowledged' }
    if (answer.kind === 'refused') return handleRefusal(message, recipient, answer)
    return { kind: 'retry', setback: answer.kind }
  }

  return {
    send: (message, recipient, maySend) =>
      attempt(message, recipient, maySend).catch((error) => {
        if (error instanceof NotSent) return { kind: error.result }
        throw error
      }),
  }
}
