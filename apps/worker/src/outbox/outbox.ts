import { setTimeout as delay } from 'node:timers/promises'
import {
  listWaitingMessages,
  type WaitingMessage,
  type WaitingQuery,
} from '@wagate/db/queries/waiting-messages'
import { makeSingleFlight } from '@wagate/shared/single-flight'
import { within } from '@wagate/shared/within'
import type { WASocket } from 'baileys'
import type { DeviceContext } from '../context.ts'
import { MediaUnavailable } from '../media/media-error.ts'
import type { Lease } from '../ownership/lease.ts'
import { isBelievable, type Outcome } from '../session/outcomes.ts'
import type { Vault } from '../session/vault.ts'
import type { Addressees } from './addressees.ts'
import { makeDelivery, type Result } from './delivery.ts'
import { makeLookUp } from './look-up.ts'
import type { NumberResolver } from './number-resolver.ts'
import type { ConnectionEnd } from './on-wire.ts'
import type { Pacer } from './pacer.ts'
import { makePreparation } from './preparation.ts'
import { type LaneFacts, type LanePlan, planLanes } from './recipient-lanes.ts'
import type { Recorder } from './recorder.ts'
import type { Retries, Setback } from './retries.ts'
import { makeSendTurns, type SendKind } from './send-turns.ts'
import { makeWaitingList } from './waiting-list.ts'

export type Outbox = {
  /** There may be new rows. */
  wake(): void
  /** WhatsApp said something of a message of this device. */
  settle(waId: string, outcome: Outcome): void
  /** Sends nothing new and waits, at most this long, for the answers to what is on the wire. */
  drain(timeoutMs: number): Promise<void>
  stop(end: ConnectionEnd): void
}

export type OutboxDevice = {
  id: number
  accountId: number
  lease: Lease
  vault: Vault
  pacer: Pacer
  resolver: NumberResolver
  retries: Retries
  addressees: Addressees
  recorder: Recorder
  /** For how long from now it may write to no new contacts. */
  restrictedMs: number
}

type Turn = { message: WaitingMessage; recipient: string }

const preparationsMax = 4
/** Media that are prepared and wait for their turn. */
const preparedMax = 8
const retryMs = 1000
/** A connection that has lived this long, or on which WhatsApp acknowledged something, works. */
export const provenMs = 5000

/**
 * Sends the waiting messages of one device through one socket, in their order for each recipient: a message
 * waits for the answer to the one before it only if both go to the same recipient. What had no answer when
 * the socket ended stays `sending` in the database and is sent again, under the same id, through the next.
 */
export function startOutbox(context: DeviceContext, device: OutboxDevice, sock: WASocket): Outbox {
  const { logger } = context
  const { lease, pacer, resolver, retries } = device
  const delivery = makeDelivery(context, device, sock)
  const prepareMedia = makePreparation(context, device, delivery, sock)
  const lookUp = makeLookUp(sock)
  const waiting = makeWaitingList(read)
  const turns = makeSendTurns(kindOf)
  const startedAtMs = performance.now()
  let restrictedUntilMs = startedAtMs + device.restrictedMs
  let hasAcknowledged = false
  const stopping = new AbortController()
  let isDraining = false
  let isWaking = false
  let pumpAtMs = Number.POSITIVE_INFINITY
  let isResolving = false
  const sends = new Set<Promise<Result>>()
  const recordings = new Set<Promise<void>>()
  /** Acknowledged, but not recorded yet: neither to be read nor to be sent again. */
  const settled = new Set<string>()
  /** By recipient: what is being done for a message to it. */
  const work = new Map<string, 'send' | 'prepare'>()
  const facts: LaneFacts = {
    recipientOf: ({ recipientJid, number }) => recipientJid ?? resolver.find(number),
    isSettled: ({ id }) => settled.has(id),
    workFor: (recipient) => work.get(recipient),
    waitMs: ({ id }) => Math.max(retries.waitMs(id), retries.streamEnds(id) > 1 ? untilProvenMs() : 0),
    isRetry: (message) => message.status === 'sending' || retries.isRetry(message.id),
  }

  const isRestricted = () => performance.now() < restrictedUntilMs
  const maySend = () => !stopping.signal.aborted && !isDraining && lease.isValid()
  const pump = makeSingleFlight(pumpOnce, (error) => {
    logger.warn({ err: error, deviceId: device.id }, 'The outbox could not go on, trying again')
    pumpAfter(retryMs)
  })

  function kindOf({ message }: Turn): SendKind {
    if (retries.streamEnds(message.id) > 0) return 'suspect'
    return facts.isRetry(message) ? 'retry' : 'fresh'
  }

  function read(query: WaitingQuery): Promise<WaitingMessage[]> {
    const without = isRestricted() ? [...query.without, 'newContacts' as const] : query.without
    return listWaitingMessages(context.db, device.id, { ...query, without })
  }

  function pumpAfter(ms: number): void {
    const atMs = performance.now() + ms
    // What wakes a paced outbox again and again need not leave a timer each time.
    if (atMs >= pumpAtMs) return
    pumpAtMs = atMs
    delay(ms, undefined, { signal: stopping.signal }).then(
      () => {
        pumpAtMs = Number.POSITIVE_INFINITY
        pump()
      },
      () => undefined,
    )
  }

  async function pumpOnce(): Promise<void> {
    if (!maySend()) return
    const untilReadMs = await waiting.refill((messages) => planLanes(messages, facts).supply)
    if (untilReadMs > 0) pumpAfter(untilReadMs)
    const plan = planLanes(waiting.list(), facts)
    if (Number.isFinite(plan.pauseMs)) pumpAfter(plan.pauseMs)
    for (const message of plan.absent) {
      waiting.remove(message)
      void delivery.fail(message, 'recipient_not_on_whatsapp')
    }
    resolveNumbers(plan.unknown)
    prepareNext(plan)
    sendNext(plan.ready)
  }

  function resolveNumbers(unknown: WaitingMessage[]): void {
    if (unknown.length === 0 || isResolving) return
    const numbers = unknown.map(({ number }) => number)
    const due = numbers.filter((number) => resolver.waitMs(number) === 0)
    if (due.length < numbers.length) {
      pumpAfter(Math.min(...numbers.map(resolver.waitMs).filter((waitMs) => waitMs > 0)))
    }
    if (due.length === 0) return
    isResolving = true
    const resolved = resolver.resolve(due, lookUp).finally(() => {
      isResolving = false
    })
    resolved.then(pump, (error) => {
      logger.warn({ err: error, deviceId: device.id }, 'A look-up of recipients failed, will retry')
      pumpAfter(retryMs)
    })
  }

  function prepareNext({ unprepared, ready }: LanePlan): void {
    const prepared = ready.filter(({ message }) => message.type !== 'text').length
    for (const turn of unprepared) {
      const preparing = [...work.values()].filter((kind) => kind === 'prepare').length
      if (!maySend() || preparing >= preparationsMax || prepared >= preparedMax) return
      void prepare(turn)
    }
  }

  async function prepare({ message, recipient }: Turn): Promise<void> {
    await occupy({ message, recipient }, 'prepare', async () => {
      const prepared = await prepareMedia(message)
      retries.forget(message.id)
      if (prepared === 'failed') waiting.remove(message)
      if (prepared === 'unclaimed') waiting.skip(message)
    })
  }

  function sendNext(ready: Turn[]): void {
    let left = ready
    for (;;) {
      const turn = maySend() ? turns.choose(left) : undefined
      if (!turn) return
      const waitMs = pacer.take(turn.message.waId)
      if (waitMs === 0) {
        left = left.filter((other) => other !== turn)
        void send(turn)
      } else {
        pumpAfter(waitMs)
        // Over the daily cap, what was counted before may still be sent again.
        const kind = kindOf(turn)
        left = left.filter((other) => kindOf(other) !== kind)
      }
    }
  }

  async function send(turn: Turn): Promise<void> {
    const { message, recipient } = turn
    const isProven = untilProvenMs() === 0
    turns.started(turn)
    const sending = delivery.send(message, recipient, maySend)
    sends.add(sending)
    await occupy(turn, 'send', async () => {
      const result = await sending.finally(() => {
        sends.delete(sending)
        turns.ended(turn)
      })
      await conclude(message, result, isProven)
    })
  }

  async function conclude(message: WaitingMessage, result: Result, isProven: boolean): Promise<void> {
    if (result.kind === 'retry') return noteSetback(message, result, isProven)
    retries.forget(message.id)
    if (result.kind === 'acknowledged') record(message)
    else if (result.kind === 'unclaimed') {
      waiting.skip(message)
      pacer.giveBack(message.waId)
    } else {
      waiting.remove(message)
      pacer.settle(message.waId)
      if (result.kind === 'restricted') restrict()
    }
  }

  async function noteSetback(
    message: WaitingMessage,
    { setback, sentence }: { setback?: Setback; sentence?: string },
    isProven: boolean,
  ): Promise<void> {
    if (!setback) return
    retries.note(message.id, setback, { isBlamed: isProven, ...(sentence && { sentence }) })
    if (!retries.isHopeless(message.id)) return
    await delivery.fail(message, 'message_ends_connection')
    retries.forget(message.id)
  }

  /** Ms until the connection counts as one that works. */
  function untilProvenMs(): number {
    return hasAcknowledged ? 0 : Math.max(0, startedAtMs + provenMs - performance.now())
  }

  /** What was read ahead may be for new contacts: those stay in the database until the restriction is over. */
  function restrict(): void {
    restrictedUntilMs = performance.now() + context.config.RESTRICTION_PAUSE_MS
    for (const message of waiting.list()) {
      const recipient = facts.recipientOf(message)
      const isHandled = settled.has(message.id) || (recipient && work.has(recipient))
      if (!isHandled) waiting.remove(message)
    }
    waiting.mayHaveMore()
  }

  /** The recipient's next message does not wait for this. */
  function record(message: WaitingMessage): void {
    settled.add(message.id)
    const recording = delivery.recordSent(message).then(() => {
      waiting.remove(message)
      settled.delete(message.id)
      recordings.delete(recording)
    })
    recordings.add(recording)
  }

  /** Does one thing for a message while the others to its recipient wait. */
  async function occupy(
    { message, recipient }: Turn,
    kind: 'send' | 'prepare',
    run: () => Promise<void>,
  ): Promise<void> {
    work.set(recipient, kind)
    try {
      await run()
    } catch (error) {
      if (!stopping.signal.aborted) {
        retries.note(message.id, kind === 'send' ? 'failed' : 'unprepared', detailsOf(error))
        logger.warn(
          { err: error, deviceId: device.id, messageId: message.id },
          'A message could not be sent, will retry',
        )
      }
    }
    work.delete(recipient)
    pump()
  }

  function wakeNow(): void {
    isWaking = false
    waiting.mayHaveMore()
    pump()
  }

  /** Finding the messages to known contacts among others is work for the database: not for each that comes. */
  function wakeSoon(): void {
    if (isWaking) return
    isWaking = true
    delay(retryMs, undefined, { signal: stopping.signal }).then(wakeNow, () => undefined)
  }

  /** An acknowledgement that came too late for its attempt spares the message the next one. */
  function settleLate(waId: string, outcome: Outcome): void {
    const message = waiting.list().find((known) => known.waId === waId && !settled.has(known.id))
    const recipient = message && facts.recipientOf(message)
    if (!message || !recipient || work.has(recipient) || !isBelievable(outcome, recipient)) return
    retries.forget(message.id)
    record(message)
    pump()
  }

  pump()
  return {
    wake: () => (isRestricted() ? wakeSoon() : wakeNow()),
    settle(waId, outcome) {
      if (outcome.kind !== 'refused') hasAcknowledged = true
      const wasExpected = delivery.settle(waId, outcome)
      if (!wasExpected && outcome.kind !== 'refused') settleLate(waId, outcome)
    },
    async drain(timeoutMs) {
      isDraining = true
      const answered = Promise.allSettled(sends).then(() => Promise.allSettled(recordings))
      await within(timeoutMs, answered)
    },
    stop(end) {
      stopping.abort()
      delivery.close(end)
    },
  }
}

function detailsOf(error: unknown): { sentence?: string; leastMs?: number } {
  if (!(error instanceof MediaUnavailable)) return {}
  return { sentence: error.message, leastMs: error.retryAfterMs ?? 0 }
}
