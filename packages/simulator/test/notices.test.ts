import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { noticeKinds } from '../src/stanzas/notices.ts'
import { type Companion, linkedCompanion, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

let sim: Simulator
let companion: Companion

beforeAll(async () => {
  sim = await startSimulator()
  companion = await linkedCompanion(sim)
}, 30_000)
afterAll(async () => {
  await companion.end()
  await sim.close()
})

const pending = () => sim.phones().find(({ number }) => number === companion.number)?.companions[0]?.pending

it.each(noticeKinds)('sends a notice of kind %s, until it is acknowledged', async (kind) => {
  await eventually(pending).toBe(0)
  sim.notice(companion.number, { kind, about: newNumber() })
  expect(pending()).toBe(1)
  await eventually(pending).toBe(0)
})

it('sends a notice again at the next login when it was not acknowledged', async () => {
  await companion.end()
  sim.notice(companion.number, { kind: 'picture', about: newNumber() })
  expect(pending()).toBe(1)
  companion.reconnect()
  await eventually(pending).toBe(0)
})

it('tells clients what has happened', async () => {
  const blocked: string[] = []
  const called: string[] = []
  companion.sock.ev.on('blocklist.update', ({ blocklist }) => blocked.push(...blocklist))
  companion.sock.ev.on('call', (calls) => called.push(...calls.map(({ from }) => from)))
  const about = newNumber()
  sim.notice(companion.number, { kind: 'blocklist', about })
  sim.notice(companion.number, { kind: 'call', about })
  await eventually(() => [blocked.length, called]).toEqual([1, [`${about}@s.whatsapp.net`]])
})

it('refuses a kind that it does not know', () => {
  expect(() => sim.notice(companion.number, { kind: 'birthday', about: newNumber() })).toThrow('one of')
})
