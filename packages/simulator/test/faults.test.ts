import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { linkedCompanion, newId, newNumber } from './companion.ts'

let sim: Simulator
beforeAll(async () => {
  sim = await startSimulator()
})
afterAll(async () => {
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

test.each(['463', '479'])('refuses a message with %s', async (code) => {
  const companion = await linkedCompanion(sim)
  const to = newNumber()
  sim.fault({ kind: 'ack_error', code, sender: companion.number, count: 1 })
  const { id, ack } = await companion.send(to, { text: 'refused' })
  expect(await ack).toMatchObject({ attrs: { error: code } })
  await companion.until(() => companion.statusOf(id) === 0, 'the error')
  const again = await companion.send(to, { text: 'accepted' })
  expect(await again.ack).not.toMatchObject({ attrs: { error: expect.anything() } })
  await companion.until(() => companion.statusOf(again.id) === 3, 'delivered')
  expect(sim.messages(to).map((one) => one.text)).toEqual(['accepted'])
  expect(sim.log().find((entry) => entry.wa_message_id === id)?.ack).toBe(code)
  await companion.end()
})

test('drops the connections of one sender only', async () => {
  const [hit, spared] = await Promise.all([linkedCompanion(sim), linkedCompanion(sim)])
  sim.fault({ kind: 'drop', sender: hit.number })
  await hit.until(() => hit.closedWith === 428, 'code 428')
  const { ack } = await spared.send(newNumber(), { text: 'still here' })
  await ack
  hit.reconnect()
  await hit.until(() => hit.isOpen, 'open again')
  await Promise.all([hit.end(), spared.end()])
})

test('keeps connections out for as long as a drop lasts', async () => {
  const companion = await linkedCompanion(sim)
  const { id } = sim.fault({ kind: 'drop', sender: companion.number, ms: 60_000 })
  await companion.until(() => companion.closedWith === 428, 'code 428')
  companion.reconnect()
  await companion.until(() => companion.closedWith !== undefined, 'refused')
  sim.clearFault(id)
  companion.reconnect()
  await companion.until(() => companion.isOpen, 'open again')
  await companion.end()
})

test('drops the connection in place of the ack, and takes the resend as a duplicate', async () => {
  const companion = await linkedCompanion(sim)
  const to = newNumber()
  const id = newId()
  sim.fault({ kind: 'drop', sender: companion.number, count: 1 })
  await companion.send(to, { text: 'uncertain' }, id)
  await companion.until(() => companion.closedWith !== undefined, 'the drop')
  companion.reconnect()
  await companion.until(() => companion.isOpen, 'open again')
  await (await companion.send(to, { text: 'uncertain' }, id)).ack
  await expect
    .poll(() => sim.messages(to), { interval: 5 })
    .toMatchObject([{ text: 'uncertain', duplicates: 1 }])
  await companion.end()
})

test.each([
  ['515', 515],
  ['428', 428],
  ['408', 408],
  ['503', 503],
  ['500', 500],
  ['403', 403],
  ['401', 401],
  ['conflict', 440],
])('ends the stream with %s', async (code, closedWith) => {
  const companion = await linkedCompanion(sim)
  const logins = sim.stats().logins
  sim.fault({ kind: 'stream_error', code, sender: companion.number })
  if (closedWith === 515) await companion.until(() => sim.stats().logins === logins + 1, 'the restart')
  else await companion.until(() => companion.closedWith === closedWith, `code ${closedWith}`)
  await companion.end()
})

test('goes silent on a half-open connection until the client notices', async () => {
  const companion = await linkedCompanion(sim, newNumber(), { keepAliveIntervalMs: 50 })
  const to = newNumber()
  await (await companion.send(to, { text: 'heard' })).ack
  sim.fault({ kind: 'half_open', sender: companion.number })
  await companion.send(to, { text: 'into the void' })
  // Baileys reports the loss only when its WebSocket is closed, and nobody answers its closing handshake.
  const { ws } = companion.sock
  await expect.poll(() => ws.isClosing, { interval: 5, timeout: 10_000 }).toBe(true)
  expect(sim.messages(to).map((one) => one.text)).toEqual(['heard'])
  const conflicts = sim.stats().conflicts
  companion.reconnect()
  await companion.until(() => companion.closedWith === 408, 'code 408 of the old connection')
  await companion.until(() => companion.isOpen, 'open again')
  expect(sim.stats().conflicts).toBe(conflicts)
  await companion.end()
})

test('loses an ack and yet delivers the message', async () => {
  const companion = await linkedCompanion(sim)
  const to = newNumber()
  sim.fault({ kind: 'ack_drop', sender: companion.number })
  sim.fault({ kind: 'no_receipts', number: to })
  const { id, ack } = await companion.send(to, { text: 'no echo' })
  await expect.poll(() => sim.messages(to).length, { interval: 5 }).toBe(1)
  sim.clearFaults()
  expect(sim.log().find((entry) => entry.wa_message_id === id)?.ack).toBe('dropped')
  const next = await companion.send(to, { text: 'echo' })
  await companion.until(() => companion.statusOf(next.id) === 3, 'delivered')
  expect(companion.statusOf(id)).toBe(-1)
  ack.catch(() => {})
  await companion.end()
})

test('delays an ack, and the receipt with it', async () => {
  const companion = await linkedCompanion(sim)
  sim.fault({ kind: 'ack_delay', sender: companion.number, ms: 300, count: 1 })
  const started = performance.now()
  const { ack } = await companion.send(newNumber(), { text: 'later' })
  expect(await ack).toMatchObject({ tag: 'ack' })
  expect(performance.now() - started).toBeGreaterThan(290)
  await companion.end()
})

test('reads slowly', async () => {
  const companion = await linkedCompanion(sim)
  const to = newNumber()
  await (await companion.send(to, { text: 'warm' })).ack
  sim.fault({ kind: 'slow_read', sender: companion.number, ms: 100 })
  const started = performance.now()
  const acks = await Promise.all([1, 2, 3].map((n) => companion.send(to, { text: `${n}` })))
  await Promise.all(acks.map(({ ack }) => ack))
  expect(performance.now() - started).toBeGreaterThan(290)
  sim.clearFaults()
  await companion.end()
})

test('refuses faults that make no sense', () => {
  expect(() => sim.fault({ kind: 'stream_error' })).toThrow('needs a code')
  expect(() => sim.fault({ kind: 'ack_error' })).toThrow('needs a code')
  expect(() => sim.fault({ kind: 'ack_delay' })).toThrow('needs ms')
  expect(() => sim.fault({ kind: 'not_on_whatsapp' })).toThrow('needs a number')
  expect(() => sim.fault({ kind: 'drop', share: 2 })).toThrow('share')
  expect(() => sim.clearFault('none')).toThrow('no such fault')
})
