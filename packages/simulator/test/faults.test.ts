import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newId, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

let sim: Simulator
let companion: Companion
beforeAll(async () => {
  sim = await startSimulator()
  companion = await linkedCompanion(sim, newNumber(), { keepAliveIntervalMs: 50 })
})
beforeEach(async () => {
  if (!companion.isOpen) companion.reconnect()
  await companion.until(() => companion.isOpen, 'open')
})
afterEach(() => sim.clearFaults())
afterAll(async () => {
  await companion.end()
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

test.each(['463', 479])('refuses a message with %j', async (code) => {
  const to = newNumber()
  sim.fault({ kind: 'ack_error', code, sender: companion.number, count: 1 })
  const { id, ack } = await companion.send(to, { text: 'refused' })
  expect(await ack).toMatchObject({ attrs: { error: String(code) } })
  await companion.until(() => companion.statusOf(id) === 0, 'the error')
  const again = await companion.send(to, { text: 'accepted' })
  expect(await again.ack).not.toMatchObject({ attrs: { error: expect.anything() } })
  await companion.until(() => companion.statusOf(again.id) === 3, 'delivered')
  expect(sim.messages(to).map((one) => one.text)).toEqual(['accepted'])
  expect(sim.log().find((entry) => entry.wa_message_id === id)?.ack).toBe(String(code))
})

test('drops the connections of one sender only', async () => {
  const spared = await linkedCompanion(sim)
  sim.fault({ kind: 'drop', sender: companion.number })
  await companion.until(() => companion.closedWith === 428, 'code 428')
  await (await spared.send(newNumber(), { text: 'still here' })).ack
  companion.reconnect()
  await companion.until(() => companion.isOpen, 'open again')
  await spared.end()
})

test('refuses connections for as long as a drop lasts', async () => {
  const { id } = sim.fault({ kind: 'drop', sender: companion.number, ms: 60_000 })
  await companion.until(() => companion.closedWith === 428, 'code 428')
  companion.reconnect()
  await companion.until(() => companion.closedWith !== undefined, 'refused')
  sim.clearFault(id)
  companion.reconnect()
  await companion.until(() => companion.isOpen, 'open again')
})

test('drops the connection in place of the ack, and takes the resend as a duplicate', async () => {
  const to = newNumber()
  const id = newId()
  sim.fault({ kind: 'drop', sender: companion.number, count: 1 })
  await companion.send(to, { text: 'uncertain' }, id)
  await companion.until(() => companion.closedWith !== undefined, 'the drop')
  companion.reconnect()
  await companion.until(() => companion.isOpen, 'open again')
  await (await companion.send(to, { text: 'uncertain' }, id)).ack
  await eventually(() => sim.messages(to)).toMatchObject([{ text: 'uncertain', duplicates: 1 }])
})

test.each([
  ['428', 428],
  ['408', 408],
  ['503', 503],
  ['500', 500],
  ['403', 403],
  ['conflict', 440],
])('ends the stream with %s', async (code, closedWith) => {
  sim.fault({ kind: 'stream_error', code, sender: companion.number })
  await companion.until(() => companion.closedWith === closedWith, `code ${closedWith}`)
})

test('asks for a restart with 515', async () => {
  const { logins } = sim.stats()
  sim.fault({ kind: 'stream_error', code: '515', sender: companion.number })
  await companion.until(() => sim.stats().logins === logins + 1, 'the restart')
})

test('refuses logins with the code of a stream error that lasts', async () => {
  sim.fault({ kind: 'stream_error', code: '503', sender: companion.number, ms: 60_000 })
  await companion.until(() => companion.closedWith === 503, 'code 503')
  companion.reconnect()
  await companion.until(() => companion.closedWith === 503, 'code 503 again')
  expect(sim.logins().at(-1)).toMatchObject({ sender: companion.number, result: '503' })
})

test('bans a number for a time, and says how much of it is left', async () => {
  const banned = await linkedCompanion(sim)
  const attributes = { code: '402', expire: 2, ban_code: '104' }
  sim.fault({ kind: 'login_failure', sender: banned.number, ...attributes })
  expect(sim.faults()).toHaveLength(1)
  await banned.until(() => banned.closedWith !== undefined, 'the end of its connection')
  banned.reconnect()
  await banned.until(() => banned.closedWith === 402, 'code 402')
  expect(banned.closedAttributes).toMatchObject({ reason: '402', code: '104', expire: expect.any(String) })
  expect(['1', '2']).toContain(banned.closedAttributes?.expire)
  await eventually(() => sim.faults()).toEqual([])
  banned.reconnect()
  await banned.until(() => banned.isOpen, 'open again')
  const [device] = sim.phones().find(({ number }) => number === banned.number)?.companions ?? []
  // The first of them followed the pairing.
  expect(device).toMatchObject({ logins: 2, refused_logins: 1 })
  expect(sim.logins().at(-1)).toMatchObject({ sender: banned.number, device: 1, result: 'ok' })
  await banned.end()
})

test('refuses a number of logins of a locked number, with what WhatsApp says about it', async () => {
  const locked = await linkedCompanion(sim)
  const attributes = { violation_reason: 'spam', appeal_token: 'token' }
  sim.fault({ kind: 'login_failure', sender: locked.number, code: '403', count: 2, ...attributes })
  for (const _ of [1, 2]) {
    await locked.until(() => locked.closedWith !== undefined, 'the end')
    locked.reconnect()
    await locked.until(() => locked.closedWith === 403, 'code 403')
    expect(locked.closedAttributes).toMatchObject(attributes)
  }
  locked.reconnect()
  await locked.until(() => locked.isOpen, 'open again')
  await locked.end()
})

test.each(['516', 'device_removed'])('unlinks a companion with the stream error %s', async (code) => {
  const unlinked = await linkedCompanion(sim)
  sim.fault({ kind: 'stream_error', code, sender: unlinked.number })
  await unlinked.until(() => unlinked.closedWith === (code === '516' ? 516 : 401), 'the stream error')
  expect(sim.phones().find((phone) => phone.number === unlinked.number)?.linked).toBe(false)
})

test('ends a stream for a missing ack, and delivers the message again', async () => {
  await sim.send(newNumber(), { to: companion.number, text: 'to be acknowledged' })
  await companion.until(() => companion.messages.length > 0, 'the message')
  const pending = () => sim.phones().find(({ number }) => number === companion.number)?.companions[0]?.pending
  await eventually(pending).toBe(0)
  sim.fault({ kind: 'stream_error', code: 'ack', sender: companion.number })
  await companion.until(() => companion.closedWith === 500, 'code 500')
  expect(pending()).toBe(1)
  companion.reconnect()
  await companion.until(() => companion.isOpen, 'open again')
  await eventually(pending).toBe(0)
})

test('logs a companion out with 401', async () => {
  const unlucky = await linkedCompanion(sim)
  sim.fault({ kind: 'stream_error', code: '401', sender: unlucky.number })
  await unlucky.until(() => unlucky.closedWith === 401, 'code 401')
  expect(sim.phones().find((phone) => phone.number === unlucky.number)?.linked).toBe(false)
})

test('goes silent on a half-open connection until the client notices', async () => {
  const to = newNumber()
  await (await companion.send(to, { text: 'heard' })).ack
  const { conflicts } = sim.stats()
  sim.fault({ kind: 'half_open', sender: companion.number })
  await companion.send(to, { text: 'into the void' })
  // Baileys reports the loss only when its WebSocket is closed, and its closing handshake gets no answer.
  const { ws } = companion.sock
  await eventually(() => ws.isClosing).toBe(true)
  expect(sim.messages(to).map((one) => one.text)).toEqual(['heard'])
  companion.reconnect()
  await companion.until(() => companion.closedWith === 408, 'code 408 of the old connection')
  await companion.until(() => companion.isOpen, 'open again')
  expect(sim.stats().conflicts).toBe(conflicts)
})

test('loses an ack but delivers the message', async () => {
  const to = newNumber()
  sim.fault({ kind: 'ack_drop', sender: companion.number })
  sim.fault({ kind: 'no_receipts', number: to })
  const { id } = await companion.send(to, { text: 'no echo' })
  await eventually(() => sim.messages(to).length).toBe(1)
  sim.clearFaults()
  expect(sim.log().find((entry) => entry.wa_message_id === id)?.ack).toBe('dropped')
  const next = await companion.send(to, { text: 'echo' })
  await companion.until(() => companion.statusOf(next.id) === 3, 'delivered')
  expect(companion.statusOf(id)).toBe(-1)
})

test('delays an ack, and the receipt with it', async () => {
  sim.fault({ kind: 'ack_delay', sender: companion.number, ms: 300, count: 1 })
  const started = performance.now()
  const { ack } = await companion.send(newNumber(), { text: 'later' })
  expect(await ack).toMatchObject({ tag: 'ack' })
  expect(performance.now() - started).toBeGreaterThan(290)
})

test('delays the device list of a number', async () => {
  const [slow, other] = [newNumber(), newNumber()]
  sim.fault({ kind: 'devices_delay', sender: companion.number, number: slow, ms: 300 })
  const devicesOf = async (number: string) => {
    const started = performance.now()
    const found = await companion.sock.getUSyncDevices([`${number}@s.whatsapp.net`], false, false)
    expect(found).toHaveLength(1)
    return performance.now() - started
  }
  const [slowMs, otherMs] = await Promise.all([devicesOf(slow), devicesOf(other)])
  expect(slowMs).toBeGreaterThan(290)
  expect(otherMs).toBeLessThan(slowMs)
})

test('reads slowly', async () => {
  const to = newNumber()
  await (await companion.send(to, { text: 'warm' })).ack
  sim.fault({ kind: 'slow_read', sender: companion.number, ms: 100 })
  const started = performance.now()
  const sent = await Promise.all([1, 2, 3].map((n) => companion.send(to, { text: `${n}` })))
  await Promise.all(sent.map(({ ack }) => ack))
  expect(performance.now() - started).toBeGreaterThan(290)
})

test('reads a limited number of bytes a second', async () => {
  const to = newNumber()
  await (await companion.send(to, { text: 'warm' })).ack
  sim.fault({ kind: 'slow_read', sender: companion.number, bytes_per_second: 10_000 })
  const started = performance.now()
  // Once for the recipient and once for the own phone.
  await (await companion.send(to, { text: 'x'.repeat(2000) })).ack
  expect(performance.now() - started).toBeGreaterThan(390)
})

test('strikes about as often as its share says', async () => {
  const to = newNumber()
  sim.fault({ kind: 'ack_error', code: '463', sender: companion.number, share: 0.5 })
  const acks = []
  for (let n = 0; n < 40; n++) acks.push((await companion.send(to, { text: `${n}` })).ack)
  const refused = (await Promise.all(acks)).filter((ack) => JSON.stringify(ack).includes('463')).length
  // Less than one in a billion runs leaves these bounds.
  expect(refused).toBeGreaterThan(0)
  expect(refused).toBeLessThan(40)
})

test('refuses faults that make no sense', () => {
  expect(() => sim.fault({ kind: 'stream_error' })).toThrow('needs a code')
  expect(() => sim.fault({ kind: 'ack_error' })).toThrow('needs a code')
  expect(() => sim.fault({ kind: 'login_failure' })).toThrow('needs a code')
  expect(() => sim.fault({ kind: 'login_failure', code: '402', expire: -1 })).toThrow('expire')
  expect(() => sim.fault({ kind: 'ack_delay' })).toThrow('needs ms')
  expect(() => sim.fault({ kind: 'slow_read' })).toThrow('needs ms')
  expect(() => sim.fault({ kind: 'slow_read', bytes_per_second: 0 })).toThrow('positive')
  expect(() => sim.fault({ kind: 'not_on_whatsapp' })).toThrow('needs a number')
  expect(() => sim.fault({ kind: 'drop', share: 2 })).toThrow('share')
  expect(() => sim.clearFault('none')).toThrow('No fault has this id')
})
