import { setTimeout as delay } from 'node:timers/promises'
import { auditHistory, type History } from '@wagate/test-kit/load/history'
import { type Load, startLoad } from '@wagate/test-kit/load/load'
import type { Mix } from '@wagate/test-kit/load/message-kinds'
import type { LogLine } from '@wagate/test-kit/load/phones'
import { isFinished, type MessageFacts } from '@wagate/test-kit/load/records'
import { until } from '@wagate/test-kit/until'
import { expect } from 'vitest'
import { note } from './figures.ts'
import { rememberedBy, type Stored } from './forgotten.ts'
import { stretchFor, watchMachine } from './machine.ts'
import { expectAgreement, type PermittedFailures } from './oracle.ts'
import { startPeople } from './people.ts'
import { size } from './size.ts'
import type { World } from './world.ts'

export type Trial = {
  name: string
  /** When the fault began and ended, by the clock of this machine. */
  faultAtMs: number
  endedAtMs: number
  load: Load
  /** Of its messages, those that the database has not forgotten. */
  sent: Load['sent']
  messages: MessageFacts[]
  /** Of these, the texts that were to be sent at once: what times are measured of. */
  texts: MessageFacts[]
  history: History
  /** What people opened, by WhatsApp's ids. */
  opened: Set<string>
  /** What the network saw, in the order in which it arrived. */
  log: LogLine[]
  /** Promises about time are for a machine that does nothing else: on another one they are this many times as long. */
  stretch: number
}

export type TrialOptions = PermittedFailures & {
  mix?: Mix
  perSecond?: number
  beforeMs?: number
  /** What the server had stored that the fault has replaced by one that is behind. Called when everything is over. */
  readFormer?(sinceMs: number): Promise<Stored>
}

/** An API request may take this long during any fault. */
const answerMsMax = 5000
const finishMs = 120_000
const usualMix: Mix = { media: 0.04, scheduled: 0.04, canceled: 0.04 }

/**
 * A load, and a fault in the middle of it. In the end nothing accepted is lost, doubled, out of order or reported
 * wrongly, phones and database agree, every event was delivered, no sender had two owners, and every request was answered
 * in time and as documented.
 */
export async function trial(
  world: World,
  name: string,
  fault: (load: Load) => Promise<void>,
  options: TrialOptions = {},
): Promise<Trial> {
  const { loggedOut = [], mix = usualMix, perSecond = size.perSecond, beforeMs = size.beforeMs } = options
  await world.ownerWatch.takeForeignWrites()
  const logged = (await world.phones.log()).length
  const before = await world.phones.stats()
  const eventsBefore = await world.subscriber.latest()
  const startedAtMs = Date.now()
  const machine = watchMachine()
  const load = startLoad(world.gateway, {
    senders: world.senders,
    perSecond,
    name: `${name} ${startedAtMs}`,
    random: world.random,
    mix,
    furtherRecipients: world.absentRecipientsOf,
  })
  const people = startPeople(world, load, { perSecond, name: `${name} ${startedAtMs}` })
  await delay(beforeMs)
  const faultAtMs = Date.now()
  try {
    await fault(load)
  } catch (error) {
    // It would keep the next trials from starting. Their recovery lets its last requests be answered.
    void load.stop()
    void people.stop()
    throw error
  }
  const endedAtMs = Date.now()
  await delay(size.afterMs)
  await load.stop()
  await people.stop()
  const stoppedAtMs = Date.now()
  await until('every message is finished', { withinMs: finishMs, everyMs: 200 }, async () =>
    (await world.records.listMessagesSince(startedAtMs)).every(isFinished),
  )
  const drainedMs = Date.now() - stoppedAtMs
  const othersShare = machine.stop()
  const stretch = stretchFor(othersShare)
  const messages = await world.records.listMessagesSince(startedAtMs)
  const log = (await world.phones.log()).slice(logged)
  const former = await options.readFormer?.(startedAtMs)
  const remembered = rememberedBy(messages, former)
  const sent = remembered.sent(load.sent)
  const opened = remembered.opened(people.opened)
  const history = auditHistory(sent, messages, remembered.log(log), opened)
  const attempts = load.sent.flatMap((sent) => sent.attempts)
  const slowest = Math.max(...attempts.map(({ tookMs }) => tookMs))
  note(name, {
    accepted: history.accepted,
    ...(former && { forgotten: load.sent.length - sent.length }),
    'answers other than 200': attempts.filter(({ status }) => status !== 200).length,
    'repeated, same id': history.repeated,
    'slowest answer ms': slowest,
    'drained after ms': drainedMs,
    '% of the machine taken by others': 100 * othersShare,
  })
  expect(history.violations).toEqual({
    lost: [],
    doubled: [],
    disordered: [],
    dishonest: [],
    overlapping: [],
  })
  await expectAgreement(world, name, { startedAtMs, logged, before, people, former, options })
  await world.subscriber.expectAllAfter(eventsBefore, name)
  expect(await world.ownerWatch.takeForeignWrites()).toEqual([])
  const refused = load.sent.filter((sent) => sent.messageId === undefined && !isOverdue(sent))
  expect(refused.filter(({ sender }) => !loggedOut.includes(sender))).toEqual([])
  expect(slowest).toBeLessThan(answerMsMax * stretch)
  expect(world.takeUndocumentedAnswers()).toEqual([])
  const texts = messages.filter(
    ({ type, sendAtMs, status, number }) =>
      type === 'text' && sendAtMs === null && status !== 'canceled' && !world.isAbsent(number),
  )
  return {
    name,
    faultAtMs,
    endedAtMs,
    load,
    sent,
    messages,
    texts,
    history,
    opened: people.opened,
    log,
    stretch,
  }
}

/** Its time passed before a request for it was answered. The repeated request then asks for a time in the past and is refused. */
export function isOverdue({ sendAt, attempts }: Load['sent'][number]): boolean {
  return sendAt !== undefined && attempts.length > 1
}

/** From `sinceMs` until each of the senders had sent a message that was accepted after it. */
export function untilNextSentMs({ texts }: Trial, senders: string[], sinceMs: number): number[] {
  return senders.map((sender) => {
    const sent = texts
      .filter((message) => message.sender === sender && message.createdAtMs > sinceMs)
      .flatMap(({ sentAtMs }) => sentAtMs ?? [])
    return Math.min(...sent) - sinceMs
  })
}
