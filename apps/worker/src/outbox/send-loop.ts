import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { isMediaType, kindOf } from '@wagate/shared/message-kinds'
import type { WASocket } from '../session/connection/socket.ts'
import type { Attempt } from './attempt.ts'
import type { ConnectionProof } from './in-flight.ts'
import type { Hands, Work } from './message-hands.ts'
import type { OutboxDevice } from './outbox-context.ts'
import type { Preparation } from './preparation.ts'
import type { LanePlan, Turn } from './recipient-lanes.ts'
import type { Settlement } from './settlement.ts'
import {
  chooseTurn,
  hasPlace,
  makePriorityTurns,
  type PriorityTurns,
  placesFor,
  type SendKind,
} from './turns.ts'
import type { WaitingList } from './waiting-list.ts'

/**
 * When a message may leave. The lanes (recipient-lanes.ts) say which messages are the next for their recipients. Of those, one
 * is sent when it has a place in flight, the sender's pacer lets it go, and its recipient was shown for long enough that the
 * sender is typing, if the caller wants that. Media is uploaded before that, for a few messages ahead.
 *
 * Those of the highest priority go first, but a tenth of the turns goes to lower ones. Of one priority, new messages and
 * retries take turns, so that neither kind waits for all of the other. Only one suspect is in flight at a time: if WhatsApp
 * ends the connection again, that message is the cause.
 */
export type SendLoop = {
  /** Begins what can be done now. */
  start(plan: Pick<LanePlan, 'ready' | 'unprepared'>): void
  /** Resolves when every message in flight has its answer, and the answers are being recorded. */
  untilAnswered(): Promise<unknown>
}

const preparationsMax = 4
/** Media that are prepared and wait for their turn to be sent. */
const preparedMax = 8

type Parts = {
  attempt: Attempt
  prepare: Preparation
  settlement: Settlement
  waiting: Pick<WaitingList, 'remove' | 'skip'>
  hands: Hands
  typing: Typing
  proof: ConnectionProof
  /** It was sent before, by this owner or another one. */
  isRetry(message: Turn['message']): boolean
}

type Hooks = {
  /** Nothing leaves once the outbox is drained or stopped, or without a valid lease. */
  maySend(): boolean
  /** Nothing new is begun either while the sender is paused. */
  mayStart(): boolean
  isStopped(): boolean
  pump(): void
  pumpAfter(ms: number): void
}

export function makeSendLoop(
  { retries, pace: { contactBudget, pacer } }: Pick<OutboxDevice, 'retries' | 'pace'>,
  { attempt, prepare, settlement, waiting, hands, typing, proof, isRetry }: Parts,
  { maySend, mayStart, isStopped, pump, pumpAfter }: Hooks,
): SendLoop {
  const sends = new Set<Promise<void>>()
  const priorityTurns = makePriorityTurns()
  const preparationTurns = makePriorityTurns()
  let wasFresh = false

  function kindOf({ message }: Turn): SendKind {
    if (retries.streamEnds(message.id) > 0) return 'suspect'
    return isRetry(message) ? 'retry' : 'fresh'
  }

  /** Never rejects. What is still being worked on after it waits again. */
  async function run(turn: Turn, work: Work, task: () => Promise<void>): Promise<void> {
    try {
      await task()
    } catch (error) {
      if (!isStopped() && hands.isWorkedOn(turn.message)) await settlement.noteFailed(turn, work, error)
    }
    if (hands.isWorkedOn(turn.message)) hands.move(turn, 'retry')
    pump()
  }

  async function send(turn: Turn): Promise<void> {
    const wasProven = proof.remainingMs() === 0
    typing.end(turn.message)
    hands.move(turn, 'claim')
    await run(turn, 'send', async () => {
      const result = await attempt(turn, { maySend, onMove: (move) => hands.move(turn, move) })
      await settlement.conclude(turn, result, wasProven)
    })
  }

  function startSend(turn: Turn): void {
    const sending = send(turn)
    sends.add(sending)
    void sending.finally(() => sends.delete(sending))
  }

  function sendNext(ready: Turn[]): void {
    let left = ready
    while (mayStart()) {
      const startable = left.filter(placesFor(hands.turnsOf('send'), kindOf))
      const turn = chooseTurn(startable, { wasFresh, kindOf, priority: priorityTurns.next(startable) })
      if (!turn) return
      if (!contactBudget.admits(turn.message)) {
        left = left.filter((other) => other !== turn)
        continue
      }
      const waitMs = typing.isOver(turn.message) ? 0 : pacer.acquire(turn.message.waId)
      if (waitMs === 0) {
        if (!typing.isOver(turn.message)) priorityTurns.note(turn, startable)
        wasFresh = kindOf(turn) === 'fresh'
        left = left.filter((other) => other !== turn)
        if (kindOf(turn) === 'fresh' && typing.isDue(turn.message)) pumpAfter(typing.start(turn))
        else startSend(turn)
      } else {
        pumpAfter(waitMs)
        // Over the daily cap, messages that were counted before may still be sent again.
        const kind = kindOf(turn)
        left = left.filter((other) => kindOf(other) !== kind || typing.isOver(other.message))
      }
    }
  }

  async function prepareMedia(turn: Turn): Promise<void> {
    const { message } = turn
    hands.move(turn, 'prepare')
    await run(turn, 'prepare', async () => {
      const prepared = await prepare(message)
      retries.forget(message.id)
      // It was canceled meanwhile.
      if (!hands.isWorkedOn(message)) return
      if (prepared === 'ready') hands.move(turn, 'prepared')
      if (prepared === 'failed') waiting.remove(message)
      if (prepared === 'unclaimed') waiting.skip(message)
    })
  }

  function prepareNext({ ready, unprepared }: Pick<LanePlan, 'ready' | 'unprepared'>): void {
    const prepared = ready.filter(({ message }) => isMediaType(message.type))
    let left = unprepared
    while (mayStart()) {
      const turn = choosePreparation(left, [hands.turnsOf('prepare'), prepared], preparationTurns)
      if (!turn) return
      left = left.filter((other) => other !== turn)
      void prepareMedia(turn)
    }
  }

  return {
    start(plan) {
      prepareNext(plan)
      sendNext(plan.ready)
    },
    untilAnswered: () => Promise.allSettled(sends),
  }
}

/** The message whose media is prepared next, if there is a place for it. */
function choosePreparation(
  unprepared: Turn[],
  [preparing, prepared]: [Turn[], Turn[]],
  turns: PriorityTurns,
): Turn | undefined {
  const startable = unprepared.filter(
    (turn) => hasPlace(turn, preparing, preparationsMax) && hasPlace(turn, prepared, preparedMax),
  )
  const priority = turns.next(startable)
  const turn = startable.find(({ message }) => message.priority === priority)
  if (turn) turns.note(turn, startable)
  return turn
}

type Message = Pick<WaitingMessage, 'id' | 'waId' | 'type' | 'typingSeconds'>

/**
 * Shows recipients that their sender is typing, or recording, before a message leaves. The message waits without being in
 * flight, and the pacer has counted it. Belongs to one connection.
 */
export type Typing = {
  /** Whether it is wanted and was not shown yet. */
  isDue(message: Message): boolean
  /** Returns for how many ms it is shown. */
  start(turn: { message: Message; recipient: Turn['recipient'] }): number
  /** Ms until the message may leave. 0 also when nothing is shown for it. */
  remainingMs(message: Pick<Message, 'id'>): number
  /** It was shown for long enough. */
  isOver(message: Pick<Message, 'id'>): boolean
  /** The message leaves now. */
  end(message: Pick<Message, 'id'>): void
  /** Ends all. Returns the WhatsApp ids of the messages that did not leave. */
  stop(): string[]
}

export function makeTyping(
  sock: Pick<WASocket, 'sendPresenceUpdate'>,
  onFailed: (error: unknown) => void,
  nowMs: () => number = () => performance.now(),
): Typing {
  const shown = new Map<string, { waId: string; untilMs: number }>()
  const remainingMs = ({ id }: Pick<Message, 'id'>) => Math.max(0, (shown.get(id)?.untilMs ?? 0) - nowMs())

  return {
    isDue: ({ id, typingSeconds }) => typingSeconds > 0 && !shown.has(id),
    start({ message: { id, waId, type, typingSeconds }, recipient }) {
      const forMs = typingSeconds * 1000
      shown.set(id, { waId, untilMs: nowMs() + forMs })
      sock.sendPresenceUpdate(kindOf(type).isRecorded ? 'recording' : 'composing', recipient).catch(onFailed)
      return forMs
    },
    remainingMs,
    isOver: (message) => shown.has(message.id) && remainingMs(message) === 0,
    end: ({ id }) => void shown.delete(id),
    stop() {
      const waIds = [...shown.values()].map(({ waId }) => waId)
      shown.clear()
      return waIds
    },
  }
}
