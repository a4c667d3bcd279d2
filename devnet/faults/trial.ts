import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { auditHistory, type History } from '../src/harness/history.ts'
import { type Load, startLoad } from '../src/harness/load.ts'
import type { LogLine } from '../src/harness/phones.ts'
import { isFinished, type MessageFacts } from '../src/harness/records.ts'
import { until } from '../src/harness/until.ts'
import { note } from './figures.ts'
import { size } from './size.ts'
import type { World } from './world.ts'

export type Trial = {
  /** When the fault began and ended, by the clock of this machine. */
  faultAtMs: number
  endedAtMs: number
  load: Load
  messages: MessageFacts[]
  history: History
  /** What the network saw, in the order in which it arrived. */
  log: LogLine[]
}

/** An API request may take this long, whatever happens. */
const answerMsMax = 5000
const finishMs = 120_000

/**
 * A load, and a fault in the middle of it. In the end nothing accepted is lost, doubled, out of order or reported
 * wrongly, no sender had two owners, and every request was answered in time. Only senders that the fault has
 * `loggedOut` may be refused.
 */
export async function trial(
  world: World,
  name: string,
  fault: (load: Load) => Promise<void>,
  loggedOut: string[] = [],
): Promise<Trial> {
  await world.ownerWatch.takeForeignWrites()
  const logged = (await world.phones.log()).length
  const startedAtMs = Date.now()
  const load = startLoad(world.gateway, {
    senders: world.senders,
    perSecond: size.perSecond,
    name: `${name} ${startedAtMs}`,
    random: world.random,
  })
  await delay(size.beforeMs)
  const faultAtMs = Date.now()
  await fault(load)
  const endedAtMs = Date.now()
  await delay(size.afterMs)
  await load.stop()
  const stoppedAtMs = Date.now()
  await until('every message is finished', { withinMs: finishMs, everyMs: 200 }, async () =>
    (await world.records.listMessagesSince(startedAtMs)).every(isFinished),
  )
  const messages = await world.records.listMessagesSince(startedAtMs)
  const log = (await world.phones.log()).slice(logged)
  const history = auditHistory(load.sent, messages, log)
  const attempts = load.sent.flatMap((sent) => sent.attempts)
  const slowest = Math.max(...attempts.map(({ tookMs }) => tookMs))
  note(name, {
    accepted: history.accepted,
    'answers other than 200': attempts.filter(({ status }) => status !== 200).length,
    'repeated, same id': history.repeated,
    'slowest answer ms': Math.round(slowest),
    'drained after ms': Date.now() - stoppedAtMs,
  })
  expect(history.violations).toEqual({
    lost: [],
    doubled: [],
    disordered: [],
    dishonest: [],
    overlapping: [],
  })
  expect(await world.ownerWatch.takeForeignWrites()).toEqual([])
  const refused = load.sent.filter(({ messageId }) => messageId === undefined)
  expect(refused.filter(({ sender }) => !loggedOut.includes(sender))).toEqual([])
  expect(slowest).toBeLessThan(answerMsMax)
  return { faultAtMs, endedAtMs, load, messages, history, log }
}

/** From `sinceMs` until each of the senders had sent a message that was accepted after it. */
export function untilNextSentMs({ messages }: Trial, senders: string[], sinceMs: number): number[] {
  return senders.map((sender) => {
    const sent = messages
      .filter((message) => message.sender === sender && message.createdAtMs > sinceMs)
      .flatMap(({ sentAtMs }) => sentAtMs ?? [])
    return Math.min(...sent) - sinceMs
  })
}
