import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { makeHands } from '../src/outbox/message-hands.ts'
import type { OutboxDevice } from '../src/outbox/outbox-context.ts'
import type { Turn } from '../src/outbox/recipient-lanes.ts'
import { makeSendLoop, type Typing } from '../src/outbox/send-loop.ts'
import type { AttemptResult, Settlement } from '../src/outbox/settlement.ts'

type Given = {
  typing: Typing
  attempt(message: WaitingMessage): Promise<AttemptResult>
  conclude?(turn: Turn, result: AttemptResult): Promise<void>
  acquire?(): number
  isRetry?(message: Pick<WaitingMessage, 'id'>): boolean
  pumpAfter?(ms: number): void
}

/** A send loop without a socket, a database and a clock. */
export function openSendLoop({
  typing,
  attempt,
  conclude = async () => undefined,
  acquire = () => 0,
  isRetry = () => false,
  pumpAfter = () => undefined,
}: Given) {
  const hands = makeHands()
  const device = {
    pace: { contactBudget: { admits: () => true }, pacer: { acquire } },
    retries: { streamEnds: () => 0, forget: () => undefined },
  } as unknown as OutboxDevice
  const settlement = { conclude, noteFailed: () => undefined } as unknown as Settlement
  const unused = () => {
    throw new Error('Not needed here')
  }
  const parts = {
    attempt: ({ message }: Turn) => attempt(message),
    prepare: unused,
    settlement,
    waiting: { remove: unused, skip: unused },
    hands,
    typing,
    proof: { noteAcknowledged: unused, remainingMs: () => 0 },
    isRetry,
  }
  const hooks = {
    maySend: () => true,
    mayStart: () => true,
    isStopped: () => false,
    pump: () => undefined,
    pumpAfter,
  }
  return { hands, loop: makeSendLoop(device, parts, hooks) }
}
