import { proto, S_WHATSAPP_NET } from 'baileys'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { Companion, linkedCompanion, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

let sim: Simulator
const companions: Companion[] = []
const spies: { mockRestore: () => void }[] = []

beforeAll(async () => {
  sim = await startSimulator()
})
afterEach(() => {
  for (const spy of spies.splice(0)) spy.mockRestore()
})
afterAll(async () => {
  for (const companion of companions) await companion.end()
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

/** Baileys 7 logs in as passive. The last versions of 6 and forks of them do not. */
function logInAsActive(): void {
  const encode = proto.ClientPayload.encode.bind(proto.ClientPayload)
  spies.push(
    vi
      .spyOn(proto.ClientPayload, 'encode')
      .mockImplementation((payload, writer) => encode({ ...payload, passive: false }, writer)),
  )
}

/** Removes what Baileys does after a login, the request to be active included. */
function staySilent({ sock }: Companion): void {
  sock.ws.removeAllListeners('CB:success')
}

/** The stanzas with messages of others that came over its present connection. */
function watchMessages({ sock }: Companion): string[] {
  const seen: string[] = []
  sock.ws.on('CB:message', ({ attrs }: { attrs: Record<string, string> }) => {
    if (attrs.category !== 'peer') seen.push(attrs.id ?? '')
  })
  return seen
}

function request({ sock }: Companion, tag: 'active' | 'passive' | 'ping') {
  const xmlns = tag === 'ping' ? 'w:p' : 'passive'
  const type = tag === 'ping' ? 'get' : 'set'
  return sock.query({ tag: 'iq', attrs: { to: S_WHATSAPP_NET, xmlns, type }, content: [{ tag, attrs: {} }] })
}

/** A companion that was away when a message came, and does nothing after its next login. */
async function silentCompanion() {
  const companion = await linkedCompanion(sim)
  companions.push(companion)
  await companion.until(() => companion.historyCompleted, 'the history')
  await companion.end()
  const write = async (text: string) =>
    (await sim.send(newNumber(), { to: companion.number, text })).wa_message_id
  const waited = await write('waited')
  const { logins } = sim.stats()
  companion.reconnect()
  staySilent(companion)
  const seen = watchMessages(companion)
  await eventually(() => sim.stats().logins).toBe(logins + 1)
  return { companion, write, waited, seen }
}

test('serves a client at once that does not log in as passive', async () => {
  logInAsActive()
  const { waited, write, seen } = await silentCompanion()
  await eventually(() => seen).toEqual([waited])
  const live = await write('live')
  await eventually(() => seen).toEqual([waited, live])
})

test('links a client that never requests to be active, and gives it the history', async () => {
  logInAsActive()
  const number = newNumber()
  const { contacts } = sim.past(number, { chats: 3, messages: 30 })
  const companion = new Companion(sim)
  companions.push(companion)
  companion.reconnect = () => {
    Companion.prototype.reconnect.call(companion)
    staySilent(companion)
  }
  const qr = await companion.until(() => companion.qr, 'a QR code')
  expect(await sim.scan({ qr, number })).toEqual({ ok: true, jid: `${number}:1@s.whatsapp.net` })
  const chats = () => companion.histories.flatMap((history) => history.chats.map(({ id }) => id))
  await companion.until(() => new Set(chats()).size >= contacts.length, 'the history')
})

test('serves a client that logs in as passive when it requests to be active', async () => {
  const { companion, waited, seen } = await silentCompanion()
  await request(companion, 'ping')
  expect(seen).toEqual([])
  await request(companion, 'active')
  await eventually(() => seen).toEqual([waited])
})

test('serves a client until it requests to be passive, and when it is active again', async () => {
  logInAsActive()
  const { companion, write, waited, seen } = await silentCompanion()
  await eventually(() => seen).toEqual([waited])
  await request(companion, 'passive')
  const later = await write('later')
  await request(companion, 'ping')
  expect(seen).toEqual([waited])
  await request(companion, 'active')
  await eventually(() => seen).toEqual([waited, later])
  await request(companion, 'active')
  await request(companion, 'ping')
  expect(seen).toEqual([waited, later])
})
