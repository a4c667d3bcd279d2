import { DEFAULT_CONNECTION_CONFIG, type WAVersion } from 'baileys'
import { afterAll, beforeAll, beforeEach, expect, it, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { Companion, linkedCompanion, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'
import { memoryAuth } from './memory-auth.ts'

const pinned = DEFAULT_CONNECTION_CONFIG.version[2]
const oldest = 1_043_900_000
const old: WAVersion = [2, 3000, oldest - 1]
const current: WAVersion = [2, 3000, oldest]
const defaults = { revision: pinned, oldest_allowed: 0, refused_by: 'login', page: 'normal' }
const companions: Companion[] = []
let sim: Simulator

beforeAll(async () => {
  sim = await startSimulator()
})
beforeEach(() => void sim.webVersion(defaults))
afterAll(async () => {
  for (const companion of companions) await companion.end()
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

const page = () => fetch(`http://${sim.mediaHost}/sw.js`)
const revisionIn = (text: string) => /\\?"client_revision\\?":\s*(\d+)/.exec(text)?.[1]

function companionOf(version: WAVersion): Companion {
  const companion = new Companion(sim, memoryAuth(), { version })
  companions.push(companion)
  return companion
}

async function linked(version: WAVersion): Promise<Companion> {
  const companion = await linkedCompanion(sim, newNumber(), { version })
  companions.push(companion)
  return companion
}

it('names its version in a page, by default the one of Baileys', async () => {
  const lookups = sim.stats().version_lookups
  const answer = await page()
  const text = await answer.text()
  expect(answer.headers.get('content-type')).toContain('application/javascript')
  expect(revisionIn(text)).toBe(String(pinned))
  expect(text.split('\\"client_revision\\":')).toHaveLength(2)
  expect(text.length).toBeGreaterThan(15_000)
  sim.webVersion({ revision: 1_043_999_999 })
  expect(revisionIn(await (await page()).text())).toBe('1043999999')
  expect(sim.stats().version_lookups).toBe(lookups + 2)
})

it('has a page that changed, that is missing, or that does not end', async () => {
  sim.webVersion({ page: 'changed' })
  const changed = await (await page()).text()
  expect([changed.length > 15_000, revisionIn(changed)]).toEqual([true, undefined])
  sim.webVersion({ page: 'missing' })
  expect((await page()).status).toBe(404)
  sim.webVersion({ page: 'endless' })
  let bytes = 0
  for await (const part of (await page()).body ?? []) {
    bytes += part.length
    if (bytes > 200_000) break
  }
  expect(bytes).toBeGreaterThan(200_000)
})

it('refuses logins of older clients with 405, and those of others not', async () => {
  const companion = await linked(old)
  sim.webVersion({ oldest_allowed: oldest })
  const refused = sim.stats().refused_logins
  companion.reconnect()
  await companion.until(() => companion.closedWith === 405, 'the refusal')
  const entry = { sender: companion.number, device: 1, version: `2.3000.${oldest - 1}`, result: '405' }
  expect(sim.logins().at(-1)).toMatchObject(entry)
  expect(sim.stats().refused_logins).toBe(refused + 1)
  const views = sim.phones().find(({ number }) => number === companion.number)?.companions
  expect(views).toMatchObject([{ logins: 1, refused_logins: 1 }])
  companion.options.version = current
  companion.reconnect()
  await companion.until(() => companion.isOpen, 'the login of a current client')
})

it('shows no QR code to older clients', async () => {
  sim.webVersion({ oldest_allowed: oldest })
  const companion = companionOf(old)
  await companion.until(() => companion.closedWith === 405, 'the refusal')
  expect(companion.qr).toBeUndefined()
  expect(sim.logins().at(-1)).toMatchObject({ sender: '', device: 0, result: '405' })
  await linked(current)
})

it.each([
  ['an older second part', [2, 2413, 2_000_000_000], 405],
  ['a newer second part', [2, 3001, 1], undefined],
] as const)('compares whole versions: %s', async (_, version, code) => {
  sim.webVersion({ oldest_allowed: oldest })
  const companion = companionOf([...version])
  await companion.until(() => companion.qr !== undefined || companion.closedWith !== undefined, 'an answer')
  expect(companion.closedWith).toBe(code)
})

it('lets older clients log in where only phones refuse them', async () => {
  const companion = await linked(old)
  sim.webVersion({ oldest_allowed: oldest, refused_by: 'phone' })
  companion.reconnect()
  await companion.until(() => companion.isOpen, 'the login')
})

const refusal = /^Couldn't link device\. .*older than WhatsApp allows/

it.each([false, true])('phones refuse the QR code of an older client (passkey: %s)', async (required) => {
  sim.webVersion({ oldest_allowed: oldest, refused_by: 'phone' })
  const number = newNumber()
  sim.requirePasskey(number, { required })
  const companion = companionOf(old)
  const qr = await companion.until(() => companion.qr, 'a QR code')
  await expect(sim.scan({ qr, number })).rejects.toThrow(refusal)
  expect(sim.phones().find((phone) => phone.number === number)?.linked ?? false).toBe(false)
  sim.webVersion({ oldest_allowed: 0 })
  await expect(sim.scan({ qr, number })).resolves.toMatchObject({ ok: true })
})

it('phones refuse the pairing code of an older client', async () => {
  sim.webVersion({ oldest_allowed: oldest, refused_by: 'phone' })
  const number = newNumber()
  const companion = companionOf(old)
  await companion.until(() => companion.qr, 'the connection')
  const code = await companion.sock.requestPairingCode(number)
  await eventually(() => sim.typeCode({ code, number }).catch(({ message }) => message)).toMatch(refusal)
  sim.webVersion({ oldest_allowed: 0 })
  await expect(sim.typeCode({ code, number })).resolves.toMatchObject({ ok: true })
})

test('its settings are an option, and are read and changed over HTTP', async () => {
  const other = await startSimulator({ webVersion: { revision: 7, refused_by: 'phone' } })
  expect(other.webVersion()).toEqual({ ...defaults, revision: 7, refused_by: 'phone' })
  const url = `${other.controlUrl}/web-version`
  const post = (body: object) => fetch(url, { method: 'POST', body: JSON.stringify(body) })
  const changed = { revision: 9, oldest_allowed: 8, refused_by: 'login', page: 'changed' }
  expect(await (await post(changed)).json()).toEqual(changed)
  expect(await (await post({ page: 'normal' })).json()).toEqual({ ...changed, page: 'normal' })
  expect(await (await fetch(url)).json()).toEqual({ ...changed, page: 'normal' })
  for (const wrong of [
    { page: 'empty' },
    { refused_by: 'nobody' },
    { revision: 1.5 },
    { oldest_allowed: -1 },
  ]) {
    expect((await post(wrong)).status).toBe(400)
  }
  await other.close()
})
