import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { Companion, linkedCompanion, newNumber } from './companion.ts'

let sim: Simulator
beforeAll(async () => {
  sim = await startSimulator({ onFailure: (error) => console.log(error) })
})
afterAll(() => sim.close())

test('links a companion whose QR the phone scanned, and lets it log in after its restart', async () => {
  const number = newNumber()
  const companion = new Companion(sim)
  const qr = await companion.until(() => companion.qr, 'a QR')
  const scan = await sim.scan({ qr, number })
  expect(scan).toEqual({ ok: true, jid: `${number}:1@s.whatsapp.net` })
  await companion.until(() => companion.isOpen, 'open')
  expect(companion.sock.user).toMatchObject({ id: `${number}:1@s.whatsapp.net`, name: `+${number}` })
  expect(sim.stats()).toMatchObject({ pairings: 1, logins: 1, unknown: {}, failures: 0 })
  const peer = newNumber()
  const { ack, id } = await companion.send(peer, { text: 'hällo 👋' })
  expect(await ack).toMatchObject({ attrs: { class: 'message', id } })
  await companion.until(() => companion.statusOf(id) >= 3, 'delivered')
  console.log(sim.messages(peer), sim.stats(), sim.log(), sim.phones())
  await companion.end()
})
