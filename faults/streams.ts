import { setTimeout as delay } from 'node:timers/promises'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { note } from './figures.ts'
import { expectWithin } from './recovery.ts'
import { isShort } from './size.ts'
import { trial } from './trial.ts'
import type { World } from './world.ts'

/** The short form has fewer senders: for the first of these. */
const codes = ['515', '428', '401', 'conflict', '500', '403', '408', '503'] as const
type Code = (typeof codes)[number]

/** WhatsApp answers with these again for as long as the outage lasts. */
const lasting: Code[] = ['428', '408', '503']
const outageMs = isShort ? 6000 : 20_000
/** Whoever was replaced comes back after a minute. */
const watchMs = isShort ? 8000 : 66_000
const backMsMax = 2000

export function streamFaults(find: () => World): void {
  // Fails when 401 or 440 is taken for a lost connection.
  it('19: WhatsApp ends connections, each with another error', async () => {
    const world = find()
    const victims = new Map(
      codes.slice(0, world.senders.length - 1).map((code, at) => [code, world.senders[at]]),
    )
    const restarted = victims.get('515') ?? ''
    const loggedOut = victims.get('401') ?? ''
    const locked = [victims.get('403') ?? []].flat()
    const statuses = new Set<unknown>()
    let logins = new Map<string, number[]>()
    let startedAtMs = 0
    let disconnectedMs = 0
    let credentials = 0
    let lockedLogins = 0

    async function watchLogout(): Promise<void> {
      await until('the sender is disconnected', { withinMs: 10_000, everyMs: 20 }, async () => {
        return (await statusOf(world, loggedOut)) === 'disconnected'
      })
      disconnectedMs = Date.now() - startedAtMs
      credentials = await world.records.countCredentials(loggedOut)
    }

    const found = await trial(
      world,
      '19 stream errors',
      async () => {
        // Something is on the wire, and something waits behind it.
        await world.fault({ kind: 'ack_drop', sender: loggedOut })
        await world.fault({ kind: 'no_receipts', sender: loggedOut })
        await delay(2000)
        startedAtMs = Date.now()
        for (const [code, sender] of victims) {
          const ms = lasting.includes(code) ? { ms: outageMs } : {}
          await world.fault({ kind: 'stream_error', code, sender, ...ms })
        }
        await Promise.all([watchStatus(world, restarted, statuses), watchLogout(), delay(watchMs)])
        logins = await world.loginsSince(startedAtMs)
        await world.phones.clearFaults()
        await linkSenders(world, [loggedOut])
        // Another owner tries those that WhatsApp has replaced, but not the one that it has locked.
        await replaceWorkers(world)
        lockedLogins = (await world.loginsSince(startedAtMs)).get(locked[0] ?? '')?.length ?? 0
        for (const sender of locked) await linkByForce(world, sender)
      },
      { loggedOut: [loggedOut, ...locked] },
    )
    const after = (code: Code) => (logins.get(victims.get(code) ?? '') ?? []).map((ms) => ms - startedAtMs)
    const failures = found.messages.filter(
      ({ status, number }) => status === 'failed' && !world.isAbsent(number),
    )
    note('19 stream errors', {
      'attempts against 428': after('428').length,
      'back after conflict ms': after('conflict')[0] ?? Number.NaN,
      'failed with it': failures.length,
    })

    expect(after('515')).toHaveLength(1)
    expectWithin(found, { 'back after 515 ms': after('515')[0] ?? Number.NaN }, backMsMax)
    expect([...statuses]).toEqual(['connected'])

    for (const code of lasting.filter((each) => victims.has(each))) expectGrowingWaits(after(code))

    // Once, and not again: no other client logs in with these credentials.
    expect(after('conflict')).toHaveLength(1)
    expect(after('conflict')[0]).toBeLessThan(backMsMax)
    expect(lockedLogins).toBe(0)
    expect(after('500')).toHaveLength(1)
    expectWithin(found, { 'back after 500 ms': after('500')[0] ?? Number.NaN }, backMsMax)

    expectWithin(found, { 'disconnected after 401 ms': disconnectedMs }, backMsMax)
    expect(credentials).toBe(0)
    expect(after('401')).toEqual([])
    expect(failures.length).toBeGreaterThan(0)
    for (const { sender, errorCode } of failures) {
      expect([loggedOut, ...locked]).toContain(sender)
      expect(errorCode).toBe('sender_logged_out')
    }

    const untouched = world.senders.filter((sender) => ![...victims.values()].includes(sender))
    for (const sender of untouched) expect(logins.get(sender)).toBeUndefined()
  })
}

async function replaceWorkers({ devnet, workers }: World): Promise<void> {
  for (const worker of workers) {
    await devnet.stop(worker)
    await devnet.start(worker)
  }
}

/** The user's step after which a locked number may log in: a new link. */
async function linkByForce(world: World, sender: string): Promise<void> {
  const { body } = await world.gateway.call('generate-qr', { sender, force: true })
  await world.phones.scan(String(body.qr_text), sender)
}

async function statusOf({ gateway }: World, sender: string): Promise<unknown> {
  return (await gateway.call('info-device', { sender })).body.status
}

function expectGrowingWaits(attemptsMs: number[]): void {
  expect(attemptsMs.length).toBeGreaterThan(1)
  // The wait doubles, with half as much again by chance.
  expect(attemptsMs.length).toBeLessThan(isShort ? 7 : 11)
  if (!isShort) expect(Math.max(...attemptsMs)).toBeGreaterThan(outageMs - 1000)
  expect(Math.max(...attemptsMs)).toBeLessThan(outageMs + 30_000)
}

/** Collects what the status of a sender says until a restart must be over. */
async function watchStatus(world: World, sender: string, seen: Set<unknown>): Promise<void> {
  const untilMs = Date.now() + backMsMax
  while (Date.now() < untilMs) {
    seen.add(await statusOf(world, sender))
    await delay(50)
  }
}
