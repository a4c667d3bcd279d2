import { setTimeout as delay } from 'node:timers/promises'
import { recipientOf } from '@wagate/test-kit/load/numbers'
import type { LogLine } from '@wagate/test-kit/load/phones'
import type { MessageFacts } from '@wagate/test-kit/load/records'
import { expect, it } from 'vitest'
import { note } from './figures.ts'
import { baselineForMs, growthDuring, p99BeforeMs, p99Ms, undisturbedMs } from './measures.ts'
import { expectWithin } from './recovery.ts'
import { stopAnswers } from './silence.ts'
import { isShort, size } from './size.ts'
import { type Trial, trial, untilNextSentMs } from './trial.ts'
import type { World } from './world.ts'

const allBackMsMax = 30_000
/** A keep-alive period of 10 s and what an answer may take. */
const noticeMsMax = 15_000
/** The wait before the first attempt, at random. */
const firstWaitMsMax = 1000
/** Until a login that was begun has arrived. */
const arrivalMs = 500
/** A second, less what the later of two logins may be faster on its way. */
const attemptGapMs = 1000 - arrivalMs
const ackTimeoutMs = 20_000

export function whatsappFaults(find: () => World): void {
  connectionsDropped(find)
  acknowledgementsDisturbed(find)
  connectionsSilent(find)
  connectionsSlow(find)
}

function connectionsDropped(find: () => World): void {
  // Fails when a resend gets a new id, when no attempt waits for the one before, and when all wait equally long.
  it('18: WhatsApp drops all connections together', async () => {
    const world = find()
    const outageMs = isShort ? 3000 : 4000
    let droppedAtMs = 0
    const found = await trial(world, '18 all dropped', async () => {
      // What is on the wire then has no answer.
      await stopAnswers(world)
      droppedAtMs = Date.now()
      await world.fault({ kind: 'drop', ms: outageMs })
      await delay(outageMs)
      await world.phones.clearFaults()
    })
    const nextMs = untilNextSentMs(found, world.senders, droppedAtMs)
    const attempts = await world.loginsSince(droppedAtMs)
    const firsts = world.senders.map((sender) => (attempts.get(sender)?.[0] ?? Number.NaN) - droppedAtMs)
    const gapsMs = [...attempts.values()].flatMap(gaps)
    note('18 all dropped', {
      'first attempt ms': Math.min(...firsts),
      'last first attempt ms': Math.max(...firsts),
      'attempts a sender': gapsMs.length / world.senders.length + 1,
      'least gap ms': Math.min(...gapsMs),
    })
    expectWithin(found, { 'last sender ms': Math.max(...nextMs) }, allBackMsMax)
    expect(found.history.repeated).toBeGreaterThan(0)
    expect(Math.min(...gapsMs)).toBeGreaterThan(attemptGapMs)
    // Too few senders may come at the same time by chance.
    if (!isShort) expect(Math.max(...firsts) - Math.min(...firsts)).toBeGreaterThan(firstWaitMsMax / 2)
  })
}

function acknowledgementsDisturbed(find: () => World): void {
  // Fails when the error in an ack is ignored, and when a message counts as sent once it is written.
  it.skipIf(isShort)('20: acknowledgements are lost, late, or errors', async () => {
    const world = find()
    const [restricted = '', stale = '', refusing = ''] = world.senders.slice(-3)
    const refusingNumber = recipientOf(refusing, 0)
    const before = await world.phones.stats()
    let device: Record<string, unknown> = {}
    const mayFail = ({ sender, number, errorCode }: MessageFacts) =>
      (sender === restricted && errorCode === 'sender_restricted') ||
      (sender === refusing && number === refusingNumber && errorCode === 'rejected_by_whatsapp')
    const fault = async () => {
      // Half of the recipients' receipts are lost as well: then nothing says that the message was taken.
      await world.fault({ kind: 'no_receipts', share: 0.5 })
      await world.fault({ kind: 'ack_drop', share: 0.05 })
      await world.fault({ kind: 'ack_delay', share: 0.05, ms: 30_000 })
      // Without an answer to its question, the gateway takes the sender for restricted.
      await world.fault({ kind: 'new_chat_query_error', code: '500', sender: restricted })
      await world.fault({ kind: 'ack_error', code: '463', sender: restricted, count: 3 })
      await world.fault({ kind: 'ack_error', code: '479', sender: refusing, number: refusingNumber })
      for (let count = 0; count < 3; count++) {
        await world.fault({ kind: 'ack_error', code: '479', sender: stale, count: 1 })
        await delay(5000)
      }
      device = (await world.gateway.call('info-device', { sender: restricted })).body
      await world.phones.clearFaults()
    }
    const found = await trial(world, '20 acks lost, late, errors', fault, { mayFail })
    const sightings = sightingsOf(found)
    // A read receipt is an answer too.
    const silent = sightings.filter(
      ({ message, lines: [first] }) =>
        first?.ack === 'dropped' && !first.receipt && !found.opened.has(message.waId),
    )
    const resentAfterMs = silent.map(({ lines: [first, second] }) => timeOf(second) - timeOf(first))
    const at = (sender: string, ack: string) =>
      sightings.filter(({ lines: [first] }) => first?.sender === sender && first.ack === ack)
    const limited = at(restricted, '463')
    const refreshed = at(stale, '479')
    // The fault may have ended between the two attempts of the last one.
    const refused = at(refusing, '479').slice(0, -1)
    const lookups = (await world.phones.stats()).device_lookups - before.device_lookups
    note('20 acks lost, late, errors', {
      'without any answer': silent.length,
      'resent after ms, least': Math.min(...resentAfterMs),
      'resent after ms, most': Math.max(...resentAfterMs),
      'device look-ups': lookups,
      'refused for good': refused.length,
    })
    expect(silent.length).toBeGreaterThan(0)
    expect(Math.min(...resentAfterMs)).toBeGreaterThan(ackTimeoutMs - 500)

    expect(limited).toHaveLength(3)
    for (const { lines, message } of limited) {
      expect(lines).toHaveLength(1)
      expect(message).toMatchObject({ status: 'failed', errorCode: 'sender_restricted' })
    }
    expect(device).toMatchObject({ restricted_until: expect.any(String) })

    expect(refreshed).toHaveLength(3)
    for (const { message } of refreshed) expect(message?.status).not.toBe('failed')
    expect(lookups).toBeGreaterThanOrEqual(refreshed.length + refused.length)

    expect(refused.length).toBeGreaterThan(0)
    for (const { lines, message } of refused) {
      expect(lines.map(({ ack }) => ack)).toEqual(['479', '479'])
      expect(message).toMatchObject({ status: 'failed', errorCode: 'rejected_by_whatsapp' })
    }
  })
}

function connectionsSilent(find: () => World): void {
  // Fails unless the session notices the silence.
  it.skipIf(isShort)('21: connections go silent', async () => {
    const world = find()
    const found = await trial(world, '21 half-open', () => world.fault({ kind: 'half_open' }))
    const nextMs = untilNextSentMs(found, world.senders, found.faultAtMs)
    const attempts = await world.loginsSince(found.faultAtMs)
    const firsts = world.senders.map((sender) => (attempts.get(sender)?.[0] ?? Number.NaN) - found.faultAtMs)
    note('21 half-open', {
      'last sender ms': Math.max(...nextMs),
    })
    const noticed = { 'first attempt ms, most': Math.max(...firsts) }
    expectWithin(found, noticed, noticeMsMax + firstWaitMsMax + arrivalMs)
  })
}

function connectionsSlow(find: () => World): void {
  // Fails when the senders of a worker share the limit of unacknowledged messages.
  it.skipIf(isShort)(
    '22: WhatsApp reads 1 kB/s for some senders, and others are offline or keep a pace',
    async () => {
      const world = find()
      // Below the load of one sender's recipients: some messages are scheduled, canceled or for numbers without WhatsApp.
      const pace = { rate_per_minute: 60, burst: 1 }
      const faultMs = 62_000
      const [paced = '', offline = '', ...rest] = world.senders
      const slow = rest.slice(0, Math.max(2, Math.ceil(rest.length / 4)))
      const others = rest.slice(slow.length)
      let [fromMs, toMs] = [0, 0]
      let growth = { heldMib: 0, rssMib: 0 }
      const fault = async () => {
        growth = await growthDuring(world, async () => {
          fromMs = Date.now()
          for (const sender of slow) await world.fault({ kind: 'slow_read', sender, bytes_per_second: 1000 })
          await world.fault({ kind: 'drop', sender: offline, ms: faultMs })
          await world.gateway.call('set-device', { sender: paced, ...pace })
          await delay(faultMs)
          toMs = Date.now()
        })
        await world.phones.clearFaults()
        await world.gateway.call('set-device', {
          sender: paced,
          rate_per_minute: 'default',
          burst: 'default',
        })
      }
      const beforeMs = size.beforeMs + baselineForMs
      const found = await trial(world, '22 slow, paced, offline', fault, { beforeMs })
      const { texts, faultAtMs } = found
      const baselineMs = p99BeforeMs(texts, others, faultAtMs)
      const othersMs = p99Ms(texts, others, fromMs, toMs)
      const slowMs = p99Ms(texts, slow, fromMs, toMs)
      const paceFromMs = toMs - 60_000
      const inMinute = found.log.filter(
        ({ sender, t }) => sender === paced && Date.parse(t) >= paceFromMs && Date.parse(t) < toMs,
      ).length
      note('22 slow, paced, offline', {
        'p99 of others ms': othersMs,
        'p99 of others before ms': baselineMs,
        'p99 of the slow ms': slowMs,
        'held memory grew MiB': growth.heldMib,
        'RSS grew MiB': growth.rssMib,
        'in the minute of the paced': inMinute,
      })
      expect(othersMs).toBeLessThan(undisturbedMs(baselineMs))
      expect(slowMs).toBeGreaterThan(1000)
      expect(growth.heldMib).toBeLessThan(50)
      expect(Math.abs(inMinute - pace.rate_per_minute)).toBeLessThanOrEqual(0.05 * pace.rate_per_minute)
    },
  )
}

function gaps(times: number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] ?? 0))
}

function timeOf(line: LogLine | undefined): number {
  return line ? Date.parse(line.t) : Number.NaN
}

/** Each message with the times that it was on the wire. */
function sightingsOf({ log, messages }: Trial) {
  const lines = new Map<string, LogLine[]>()
  for (const line of log) lines.set(line.wa_message_id, [...(lines.get(line.wa_message_id) ?? []), line])
  return messages.map((message) => ({ message, lines: lines.get(message.waId) ?? [] }))
}
