import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

const windowMs = 1500

let sim: Simulator
let companion: Companion
beforeAll(async () => {
  sim = await startSimulator()
  companion = await linkedCompanion(sim)
})
afterEach(() => sim.clearFaults())
afterAll(async () => {
  await companion.end()
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

async function errorOfMessageTo(to: string): Promise<string | undefined> {
  const { ack } = await companion.send(to, { text: 'x' })
  return errorOf(await ack)
}

const errorOf = (ack: unknown) => (ack as { attrs: { error?: string } }).attrs.error

const refused = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: { data?: unknown }) => error.data,
  )

test('an account sends as many messages as its limit allows in a time, others are not concerned', async () => {
  const other = await linkedCompanion(sim)
  const [to, friend] = [newNumber(), newNumber()]
  await errorOfMessageTo(to)
  sim.fault({ kind: 'message_limit', size: 2, ms: windowMs })
  const errors = [await errorOfMessageTo(to), await errorOfMessageTo(to), await errorOfMessageTo(to)]
  expect(errors).toEqual([undefined, undefined, '429'])
  const { ack } = await other.send(friend, { text: 'x' })
  expect(errorOf(await ack)).toBeUndefined()
  expect(sim.messages(to)).toHaveLength(3)
  await eventually(() => errorOfMessageTo(to)).toBeUndefined()
  await other.end()
})

test.each([
  ['key_limit', (of: Companion) => of.sock.assertSessions([`${newNumber()}@s.whatsapp.net`], true)],
  ['lookup_limit', (of: Companion) => of.sock.onWhatsApp(newNumber())],
] as const)('an account is told to wait beyond its %s', async (kind, ask) => {
  sim.fault({ kind, size: 1, ms: windowMs })
  expect(await refused(ask(companion))).toBeUndefined()
  expect(await refused(ask(companion))).toBe(429)
  await eventually(() => refused(ask(companion))).toBeUndefined()
})

test('an account logs in as often as its limit allows in a time', async () => {
  sim.fault({ kind: 'login_limit', size: 1, ms: windowMs, sender: companion.number })
  for (const expected of ['ok', '429']) {
    await companion.end()
    companion.reconnect()
    await companion.until(() => companion.isOpen || companion.closedWith === 429, expected)
    expect(sim.logins().at(-1)?.result).toBe(expected)
  }
  await eventually(async () => {
    companion.reconnect()
    await companion.until(() => companion.isOpen || companion.closedWith, 'an answer')
    return companion.isOpen
  }).toBe(true)
})

test('a limit needs a size and a time', () => {
  expect(() => sim.fault({ kind: 'login_limit', ms: 1000 })).toThrow('login_limit needs a size')
  expect(() => sim.fault({ kind: 'key_limit', size: 1 })).toThrow('key_limit needs ms')
})
