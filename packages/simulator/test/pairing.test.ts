import { S_WHATSAPP_NET } from 'baileys'
import QRCode from 'qrcode'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { Companion, linkedCompanion, newId, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'
import { memoryAuth } from './memory-auth.ts'

let sim: Simulator
beforeAll(async () => {
  sim = await startSimulator()
})
afterAll(async () => {
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

test('links a companion whose QR the phone scanned, and lets it log in after its restart', async () => {
  const number = newNumber()
  const companion = new Companion(sim)
  const qr = await companion.until(() => companion.qr, 'a QR')
  expect(await sim.scan({ qr, number })).toEqual({ ok: true, jid: `${number}:1@s.whatsapp.net` })
  await companion.until(() => companion.isOpen, 'open')
  expect(companion.sock.user).toMatchObject({ id: `${number}:1@s.whatsapp.net`, name: `+${number}` })
  const phone = sim.phones().find((other) => other.number === number)
  expect(phone).toMatchObject({ linked: true, connected: true, companions: [{ platform: 'Test, chrome' }] })
  await companion.end()
})

test('answers the keep-alive of a companion that waits to be scanned', async () => {
  const companion = new Companion(sim)
  await companion.until(() => companion.qr, 'a QR')
  const ping = { tag: 'iq', attrs: { to: S_WHATSAPP_NET, type: 'get', xmlns: 'w:p', id: newId() } }
  const answer = await companion.sock.query({ ...ping, content: [{ tag: 'ping', attrs: {} }] }, 2000)
  expect(answer.attrs).toMatchObject({ type: 'result', id: ping.attrs.id })
  await companion.end()
})

test('reads the QR from a PNG', async () => {
  const number = newNumber()
  const companion = new Companion(sim)
  const text = await companion.until(() => companion.qr, 'a QR')
  const qr = await QRCode.toDataURL(text)
  expect(await sim.scan({ qr, number })).toMatchObject({ ok: true })
  await companion.end()
})

test('lets events flow at once after the first login, without waiting 20 s for the history', async () => {
  const companion = await linkedCompanion(sim)
  await companion.until(() => companion.historyCompleted, 'the history')
  const contact = newNumber()
  await sim.send(contact, { to: companion.number, text: 'first' })
  await companion.until(() => companion.messages.length > 0, 'an event')
  await companion.end()
})

test('pushes the history again when the first login was interrupted', async () => {
  const companion = new Companion(sim)
  const qr = await companion.until(() => companion.qr, 'a QR')
  const number = newNumber()
  await sim.scan({ qr, number })
  await companion.end()
  companion.reconnect()
  await companion.until(() => companion.isOpen, 'open')
  await sim.send(newNumber(), { to: number, text: 'first' })
  await companion.until(() => companion.messages.length > 0, 'an event')
  await companion.end()
})

test('gives each companion of a phone its own device id', async () => {
  const number = newNumber()
  const first = await linkedCompanion(sim, number)
  const second = await linkedCompanion(sim, number)
  expect([first.sock.user?.id, second.sock.user?.id]).toEqual([
    `${number}:1@s.whatsapp.net`,
    `${number}:2@s.whatsapp.net`,
  ])
  expect(first.isOpen).toBe(true)
  await Promise.all([first.end(), second.end()])
})

test('refuses a QR that no companion shows, and one that is scanned twice', async () => {
  const number = newNumber()
  await expect(sim.scan({ qr: 'ref,noise,identity,secret,1', number })).rejects.toThrow(
    'unknown or has expired',
  )
  await expect(sim.scan({ qr: 'not a QR', number })).rejects.toThrow(
    'This is not the text of a WhatsApp QR code. It begins with',
  )
  await expect(sim.scan({ qr: 'data:image/jpeg;base64,/9j/4AAQ', number })).rejects.toThrow('not a PNG')
  const companion = new Companion(sim)
  const qr = await companion.until(() => companion.qr, 'a QR')
  const first = sim.scan({ qr, number })
  await expect(sim.scan({ qr, number })).rejects.toThrow('scanned already')
  await first
  await companion.end()
})

test('links the companion whose pairing code is typed, and no other', async () => {
  const number = newNumber()
  const companion = new Companion(sim)
  await companion.until(() => companion.qr, 'a QR')
  await expect(sim.typeCode({ code: 'ABCDEFGH', number })).rejects.toThrow('No companion has asked')
  const code = await companion.sock.requestPairingCode(number)
  await eventually(() => sim.typeCode({ code: 'WRONGONE', number }).catch(({ message }) => message)).toMatch(
    'not the one that the companion shows',
  )
  expect(sim.phones().find((phone) => phone.number === number)?.companions).toEqual([])
  expect(await sim.typeCode({ code, number })).toEqual({ ok: true, jid: `${number}:1@s.whatsapp.net` })
  await companion.end()
})

test('tells the scanning phone when the companion goes away', async () => {
  const companion = new Companion(sim)
  const qr = await companion.until(() => companion.qr, 'a QR')
  const scan = sim.scan({ qr, number: newNumber() })
  const refused = expect(scan).rejects.toThrow('disconnected before it was linked')
  await companion.end()
  await refused
})

test('closes the older connection of a companion with a conflict', async () => {
  const companion = await linkedCompanion(sim)
  const twin = new Companion(sim, companion.auth)
  await companion.until(() => companion.closedWith === 440, 'code 440')
  await twin.until(() => twin.isOpen, 'open')
  await twin.end()
})

test('closes a companion with 401 when the phone unlinks it, and refuses its next login', async () => {
  const companion = await linkedCompanion(sim)
  expect(sim.unlink({ number: companion.number })).toEqual({ ok: true, unlinked: 1 })
  await companion.until(() => companion.closedWith === 401, 'code 401')
  companion.reconnect()
  await companion.until(() => companion.closedWith === 401, 'code 401 again')
})

test('refuses a login with the name of a companion and another key', async () => {
  const companion = await linkedCompanion(sim)
  await companion.end()
  const thief = memoryAuth()
  Object.assign(thief.creds, { ...companion.auth.creds, noiseKey: thief.creds.noiseKey })
  const impostor = new Companion(sim, thief)
  await impostor.until(() => impostor.closedWith === 401, 'code 401')
})

test('removes a companion that logs out', async () => {
  const companion = await linkedCompanion(sim)
  const { number } = companion
  const isLinked = () => sim.phones().find((phone) => phone.number === number)?.linked
  expect(isLinked()).toBe(true)
  await companion.sock.logout()
  await eventually(isLinked).toBe(false)
})
