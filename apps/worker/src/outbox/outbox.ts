import { setTimeout as delay } from 'node:timers/promises'
import { findEnded } from '@wagate/db/queries/messages/ended-messages'
import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { within } from '@wagate/runtime/within'
import { phoneJid } from '@wagate/shared/contact-key'
import { priorities } from '@wagate/shared/priorities'
import { holdMs } from '@wagate/shared/waiting-reasons'
import type { WASocket } from '../session/connection/socket.ts'
import { makeLookUp } from '../session/contacts/look-up.ts'
import type { Outcome } from '../session/sending/outcomes.ts'
import { makeAttempt } from './attempt.ts'
import { makeEarliestTimer } from './earliest-timer.ts'
import { makeEndedCheck } from './ended-messages.ts'
import { type ConnectionEnd, makeConnectionProof, makeInFlight } from './in-flight.ts'
import { makeHands } from './message-hands.ts'
import { makeLookUpUnknown } from './number-resolver.ts'
import type { OutboxContext, OutboxDevice } from './outbox-context.ts'
import { type OutboxWaits, readWaits } from './outbox-waits.ts'
import { makePreparation } from './preparation.ts'
import { type LaneFacts, laneOfAddress, planLanes } from './recipient-lanes.ts'
import { makeSendLoop, makeTyping } from './send-loop.ts'
import { makeMessageResults, makeRecorder, makeSettlement } from './settlement.ts'
import { joinLists, makeWaitingList } from './waiting-list.ts'
import { findNumber, makeWaitingQueue, withKnownNumbers } from './waiting-queue.ts'

export type Outbox = {
  /** There may be new rows. */
  wake(): void
  /** Sends nothing new and waits, at most this long, for the answers to the messages in flight. */
  drain(timeoutMs: number): Promise<void>
  stop(end: ConnectionEnd): void
  waits(): OutboxWaits
}

const failurePause = { firstMs: 1000, maxMs: 10_000 }
const wakeMs = 1000
/** Timers cannot wait for longer than 24 days. */
const pauseCheckMsMax = 3_600_000

/**
 * Sends the waiting messages of one device through one socket, in their order for each recipient: a message waits for
 * the answer to the one before it only if both go to the same recipient. A message without an answer when the socket
 * ends stays `sending` in the database and is sent again, under the same id, through the next socket.
 *
 * `pump` runs the whole way each time when something may have changed, and everything on it is asked anew:
 *
 *     waiting-list.ts     what waits: the next rows of Postgres, read ahead, past blocked ones
 *     recipient-lanes.ts  which messages are the next to their recipients, and what keeps each other one
 *     send-loop.ts        when one of those may leave: pace, typing, uploads
 *     turns.ts            which of them: places in flight, priorities, retries
 *     attempt.ts          one attempt: claim, encrypt, write, await the answer
 *     settlement.ts       what came of it: stored as sent or failed, or kept for another attempt
 *
 * What is being done for each message meanwhile is its state in message-hands.ts.
 */
export function startOutbox(context: OutboxContext, device: OutboxDevice, sock: WASocket): Outbox {
  const stopping = new AbortController()
  let isDraining = false
  let isWaking = false
  let failures = 0
  const pump = makeSingleFlight(pumpOnce, (error) => {
    context.logger.warn({ err: error, deviceId: device.id }, 'Outbox failed, will retry')
    failures += 1
    pumpAfter(growingPauseMs(failures, failurePause))
  })
  const pumpAfter = makeEarliestTimer(pump, stopping.signal)
  const parts = makeParts(context, device, sock)
  const { facts, results, settlement, waiting } = parts
  const { pace } = device
  const isStopped = () => stopping.signal.aborted
  const maySend = () => !isStopped() && !isDraining && device.lease.isValid()
  const mayStart = () => maySend() && pace.pause.leftMs() === 0
  const sends = makeSendLoop(device, parts, { maySend, mayStart, isStopped, pump, pumpAfter })
  const checkEnded = makeEndedCheck(parts, { onRemoved: pump, signal: stopping.signal })
  const lookUp = makeLookUp(sock)
  const lookUpUnknown = makeLookUpUnknown({ ...device, ...context, lookUp, pump, pumpAfter })

  async function pumpOnce(): Promise<void> {
    if (!maySend()) return
    if (!mayStart()) return pumpAfter(Math.min(pace.pause.leftMs(), pauseCheckMsMax))
    const untilReadMs = await waiting.refill((messages) => planLanes(messages, facts).available)
    failures = 0
    if (untilReadMs > 0) pumpAfter(untilReadMs)
    const plan = planLanes(waiting.list(), facts)
    if (Number.isFinite(plan.pauseMs)) pumpAfter(plan.pauseMs)
    for (const message of plan.absent) {
      waiting.remove(message)
      void results.fail(message, 'recipient_not_on_whatsapp')
    }
    lookUpUnknown(plan.unknown)
    sends.start(plan)
  }

  function wakeNow(): void {
    isWaking = false
    checkEnded()
    waiting.mayHaveMore()
    pump()
  }

  /** While new contacts are paused, a read has to find the messages to known contacts: too costly for each new message. */
  function wakeSoon(): void {
    if (isWaking) return
    isWaking = true
    delay(wakeMs, undefined, { signal: stopping.signal }).then(wakeNow, () => undefined)
  }

  function noteOutcome(waId: string, outcome: Outcome): void {
    if (outcome.kind !== 'refused') parts.proof.noteAcknowledged()
    if (parts.inFlight.resolve(waId, outcome) || outcome.kind === 'refused') return
    if (settlement.acknowledgeLate(waId, outcome)) pump()
  }

  function followPauses(): void {
    if (areNewContactsPaused(device)) returnNewContacts(parts, device)
    waiting.mayHaveMore()
    pump()
  }

  const changing = [device.firstContacts, pace.contactBudget, pace.pause, pace.priorityUse]
  const unsubscribe = [
    device.contacts.onNumber((lidJid, number) => {
      parts.followNumber(lidJid, number)
      readAgain(parts, number)
      pump()
    }),
    device.outcomes.subscribe(noteOutcome),
    ...changing.map((one) => one.onChange(followPauses)),
  ]
  pump()
  return {
    waits: () => readWaits(waiting.list(), { ...parts, device }),
    wake: () => (areNewContactsPaused(device) ? wakeSoon() : wakeNow()),
    async drain(timeoutMs) {
      isDraining = true
      await within(
        timeoutMs,
        sends.untilAnswered().then(() => settlement.untilRecorded()),
      )
    },
    stop(end) {
      stopping.abort()
      for (const end of unsubscribe) end()
      parts.inFlight.endAll(end)
      for (const waId of parts.typing.stop()) device.pace.pacer.release(waId)
    },
  }
}

type Parts = ReturnType<typeof makeParts>

function makeParts(context: OutboxContext, device: OutboxDevice, sock: WASocket) {
  const { logger, statements } = context
  const queueSource = { db: context.db, nextReads: statements.nextReads }
  const { resolver, retries, pace } = device
  const inFlight = makeInFlight()
  const hands = makeHands()
  const proof = makeConnectionProof()
  const recorder = makeRecorder({ ...context, outcomes: statements.outcomes }, device)
  const results = makeMessageResults(context, { id: device.id, recorder })
  const waiting = joinLists(
    priorities.map((_, priority) =>
      makeWaitingList(
        withKnownNumbers(makeWaitingQueue(queueSource, device, priority), {
          find: (lidJid) => findNumber(device, sock, lidJid),
          onKnown: followNumber,
        }),
      ),
    ),
  )
  const typing = makeTyping(sock, (error) =>
    logger.debug({ err: error, deviceId: device.id }, 'Showing that the sender is typing failed'),
  )
  const recipientOf: LaneFacts['recipientOf'] = ({ recipientJid, number }) =>
    recipientJid ?? resolver.find(number)
  const isRetry: LaneFacts['isRetry'] = ({ id, status }) => status === 'sending' || retries.isRetry(id)
  const facts: LaneFacts = {
    recipientOf,
    isAcknowledged: hands.isAcknowledged,
    workFor: hands.workFor,
    waitMs: ({ id }) => Math.max(retries.waitMs(id), retries.streamEnds(id) > 1 ? proof.remainingMs() : 0),
    paceMs: pace.recipientPace.waitMs,
    typingMs: typing.remainingMs,
    isRetry,
    mayBePassed: (message) => retries.failingMs(message) >= holdMs,
  }

  /** Messages that wait for a LID join those that wait for its number as soon as that is known, also when it has changed. */
  function followNumber(lidJid: string, number: string): void {
    const isOf = ({ number, recipientJid }: WaitingMessage) => number === lidJid || recipientJid === lidJid
    const moved = waiting.list().filter((message) => isOf(message) && message.number !== number)
    for (const message of moved) message.number = number
    if (moved.length > 0) hands.refresh()
    pace.recipientPace.move(lidJid, laneOfAddress(phoneJid(number)))
    pace.contactBudget.move(lidJid, number)
  }

  return {
    facts,
    findEnded: (messages: WaitingMessage[]) => findEnded(context.db, messages),
    followNumber,
    hands,
    inFlight,
    isRetry,
    proof,
    results,
    typing,
    waiting,
    attempt: makeAttempt(context, device, sock, { inFlight, results }),
    prepare: makePreparation(context, device, results, sock),
    settlement: makeSettlement(context, device, { waiting, hands, results, recipientOf }),
  }
}

/** Earlier messages to this number may not be in the list, because it had enough of them, and of its LID as well. */
function readAgain({ hands, waiting }: Pick<Parts, 'hands' | 'waiting'>, number: string): void {
  for (const message of waiting.list()) {
    const isIdle = !hands.isAcknowledged(message) && !hands.isWorkedOn(message)
    if (message.number === number && isIdle) waiting.requeue(message)
  }
  waiting.mayHaveMore()
}

/** Messages to new contacts stay in the database: WhatsApp restricts the sender, or its budget is used up. */
function areNewContactsPaused({ firstContacts, pace }: Pick<OutboxDevice, 'firstContacts' | 'pace'>) {
  return firstContacts.areActive() || pace.contactBudget.isUsedUp()
}

/**
 * Messages that were read ahead may be for new contacts. A message that is being handled is not taken back here, but those
 * behind it for the same recipient are. It is taken back before it would be sent (attempt.ts).
 */
function returnNewContacts(
  { hands, waiting }: Pick<Parts, 'hands' | 'waiting'>,
  { firstContacts }: Pick<OutboxDevice, 'firstContacts'>,
): void {
  for (const message of waiting.list()) {
    if (hands.isAcknowledged(message)) continue
    if (!hands.isWorkedOn(message)) waiting.requeue(message)
    // A contact that only counts towards the budget is a new one for WhatsApp.
    else if (firstContacts.areActive()) message.isToContact = false
  }
}
