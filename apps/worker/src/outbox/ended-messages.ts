import { setTimeout as delay } from 'node:timers/promises'
import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { isReadyToSend } from './content.ts'
import type { Hands } from './message-hands.ts'
import type { LaneFacts } from './recipient-lanes.ts'
import type { WaitingList } from './waiting-list.ts'

type Parts = {
  waiting: Pick<WaitingList, 'list' | 'remove'>
  hands: Pick<Hands, 'isAcknowledged' | 'isWorkedOn' | 'drop' | 'preparingMs'>
  facts: Pick<LaneFacts, 'waitMs'>
  /** The ids of those that no longer wait in Postgres. */
  findEnded(messages: WaitingMessage[]): Promise<string[]>
}

type Hooks = {
  onRemoved(): void
  signal: AbortSignal
}

/** Each check may be a statement. Many wakes are one check. */
const restMs = 500
/** The file of a message that leaves promptly takes no longer. */
const promptMs = 1000

/**
 * A message that was read may be canceled, or expire. One that is about to leave finds that out when it is claimed. One that
 * waits for another attempt, or for its file, would hold back what is behind it until then. To be called when
 * something may have ended. Returns at once.
 */
export function makeEndedCheck(
  { waiting, hands, facts, findEnded }: Parts,
  { onRemoved, signal }: Hooks,
): () => void {
  let restsUntilMs = Number.NEGATIVE_INFINITY

  /** In how many ms it holds back others without being about to leave. Infinity for one that an attempt is made for. */
  function holdsInMs(message: WaitingMessage): number {
    const preparingMs = hands.preparingMs(message)
    if (preparingMs !== undefined) return Math.max(0, promptMs - preparingMs)
    const isIdle = !hands.isAcknowledged(message) && !hands.isWorkedOn(message)
    return isIdle && (facts.waitMs(message) > 0 || !isReadyToSend(message)) ? 0 : Number.POSITIVE_INFINITY
  }

  async function check(): Promise<void> {
    const inMs = Math.min(...waiting.list().map(holdsInMs))
    if (inMs === Number.POSITIVE_INFINITY) return
    const waitMs = Math.max(inMs, restsUntilMs - performance.now())
    if (waitMs > 0) await delay(waitMs, undefined, { signal })
    const holding = waiting.list().filter((message) => holdsInMs(message) === 0)
    if (holding.length === 0) return
    restsUntilMs = performance.now() + restMs
    const ended = new Set(await findEnded(holding))
    for (const message of holding) {
      // What has left meanwhile ends in its own way.
      if (!ended.has(message.id) || holdsInMs(message) > 0) continue
      waiting.remove(message)
      hands.drop(message)
    }
    if (ended.size > 0) onRemoved()
  }

  // What fails is made up for by the next wake.
  return makeSingleFlight(check, () => undefined)
}
