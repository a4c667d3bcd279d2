import type { DeviceContext } from '../context.ts'
import { MediaUnavailable } from '../media/media-error.ts'
import type { WASocket } from '../session/connection/socket.ts'
import { type AcknowledgedMessages, makeAcknowledgedMessages } from './acknowledged-messages.ts'
import { type ConnectionProof, makeConnectionProof } from './connection-proof.ts'
import { type Delivery, makeDelivery } from './delivery.ts'
import { LookUpsPaused } from './ensure-recipient-sessions.ts'
import { type InFlight, makeInFlight } from './in-flight.ts'
import { type MessageResults, makeMessageResults } from './message-results.ts'
import { noteSetback } from './note-setback.ts'
import type { OutboxDevice } from './outbox-device.ts'
import type { LaneFacts, Turn } from './recipient-lanes.ts'
import { makeRecipientWork, type RecipientWork, type WorkKind } from './recipient-work.ts'
import { makeTyping, type Typing } from './typing.ts'
import { makeWaitingList, type WaitingList } from './waiting-list.ts'
import { makeWaitingQueue } from './waiting-queue.ts'

/** What the parts of one outbox share. */
export type OutboxScope = OutboxHooks & {
  context: DeviceContext
  device: OutboxDevice
  delivery: Delivery
  inFlight: InFlight
  results: MessageResults
  waiting: WaitingList
  work: RecipientWork
  acknowledged: AcknowledgedMessages
  proof: ConnectionProof
  typing: Typing
  facts: LaneFacts
  /** Messages to new contacts stay in the database: WhatsApp restricts the sender, or its budget is used up. */
  areNewContactsPaused(): boolean
}

type OutboxHooks = {
  isStopped(): boolean
  /** Nothing new leaves once the outbox is drained or stopped, or without a valid lease. */
  maySend(): boolean
  pump(): void
  pumpAfter(ms: number): void
}

export function makeOutboxScope(
  context: DeviceContext,
  device: OutboxDevice,
  sock: WASocket,
  hooks: OutboxHooks,
): OutboxScope {
  const { contactBudget, firstContacts, recipientPace, resolver, retries } = device
  const inFlight = makeInFlight()
  const results = makeMessageResults(context, device)
  const delivery = makeDelivery(context, device, sock, { inFlight, results })
  const waiting = makeWaitingList(makeWaitingQueue(context, device))
  const acknowledged = makeAcknowledgedMessages(results, waiting)
  const proof = makeConnectionProof()
  const typing = makeTyping(sock, (error) =>
    context.logger.debug({ err: error, deviceId: device.id }, 'Showing that the sender is typing failed'),
  )
  const work = makeRecipientWork({ onFailed, onDone: hooks.pump })
  const facts: LaneFacts = {
    recipientOf: ({ recipientJid, number }) => recipientJid ?? resolver.find(number),
    isAcknowledged: acknowledged.has,
    workFor: work.kindFor,
    waitMs: ({ id }) => Math.max(retries.waitMs(id), retries.streamEnds(id) > 1 ? proof.remainingMs() : 0),
    paceMs: recipientPace.waitMs,
    typingMs: typing.remainingMs,
    isRetry: (message) => message.status === 'sending' || retries.isRetry(message.id),
  }

  function onFailed({ message }: Turn, kind: WorkKind, error: unknown): void {
    if (hooks.isStopped()) return
    const setback = kind === 'send' ? 'send_failed' : 'unprepared'
    void noteSetback({ context, device }, message, setback, detailsOf(error))
    context.logger.warn(
      { err: error, deviceId: device.id, messageId: message.id },
      'Sending a message failed, will retry',
    )
  }

  return {
    ...hooks,
    context,
    device,
    delivery,
    inFlight,
    results,
    waiting,
    work,
    acknowledged,
    proof,
    typing,
    facts,
    areNewContactsPaused: () => firstContacts.areActive() || contactBudget.isUsedUp(),
  }
}

function detailsOf(error: unknown): { sentence?: string; leastMs?: number } {
  if (!(error instanceof MediaUnavailable || error instanceof LookUpsPaused)) return {}
  return { sentence: error.message, leastMs: error.retryAfterMs ?? 0 }
}
