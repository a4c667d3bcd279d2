import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

let sim: Simulator
beforeAll(async () => {
  sim = await startSimulator()
})
afterEach(() => sim.clearFaults())
afterAll(async () => {
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

/** A companion that was away while this many messages came. */
async function awayCompanion(count: number): Promise<{ companion: Companion; contact: string }> {
  const companion = await linkedCompanion(sim)
  const contact = newNumber()
  await companion.end()
  for (let index = 0; index < count; index++) await write(contact, companion, `text ${index}`)
  return { companion, contact }
}

const write = (contact: string, { number }: Companion, text: string) =>
  sim.send(contact, { to: number, text })

/** Like whatsmeow, which never requests offline stanzas. */
function neverAsk({ sock }: Companion): void {
  sock.ws.removeAllListeners('CB:ib,,offline_preview')
}

function requestPart({ sock }: Companion, count: number): Promise<void> {
  return sock.sendNode({
    tag: 'ib',
    attrs: {},
    content: [{ tag: 'offline_batch', attrs: { count: count.toString() } }],
  })
}

const textsOf = ({ messages }: Companion) => messages.map(({ message }) => message?.conversation)
const texts = (count: number) => Array.from({ length: count }, (_, index) => `text ${index}`)
const pendingOf = ({ number }: Companion) =>
  sim.phones().find((phone) => phone.number === number)?.companions[0]?.pending

/** Messages are reported when the end of the queue was announced; this sees them on the wire. */
function watchWire({ sock }: Companion): { offline: number[]; announced: number[] } {
  const seen = { offline: [] as number[], announced: [] as number[] }
  sock.ws.on('CB:message', ({ attrs }: { attrs: Record<string, string> }) => {
    if (attrs.offline !== undefined) seen.offline.push(Number(attrs.offline))
  })
  sock.ws.on('CB:ib,,offline', (stanza: { content: { attrs: Record<string, string> }[] }) => {
    seen.announced.push(Number(stanza.content[0]?.attrs.count))
  })
  return seen
}

test('hands out all that waited together, also to a client that never requests it', async () => {
  const { companion, contact } = await awayCompanion(150)
  companion.reconnect()
  neverAsk(companion)
  await companion.until(() => companion.messages.length === 150, 'what waited')
  await write(contact, companion, 'live')
  await companion.until(() => companion.messages.length === 151, 'the live message')
  expect(textsOf(companion)).toEqual([...texts(150), 'live'])
  await companion.end()
})

test('hands out parts on request, and then announces the end', async () => {
  const { companion } = await awayCompanion(120)
  sim.fault({ kind: 'offline_parts', sender: companion.number })
  companion.reconnect()
  neverAsk(companion)
  const seen = watchWire(companion)
  await companion.until(() => companion.isOpen, 'open')
  await requestPart(companion, 50)
  await eventually(() => seen.offline.length).toBe(50)
  await requestPart(companion, 50)
  await eventually(() => seen.offline.length).toBe(100)
  expect(seen.announced).toEqual([])
  await requestPart(companion, 50)
  await companion.until(() => companion.messages.length === 120, 'what waited')
  expect(seen.offline).toEqual(texts(120).map((_, index) => index))
  expect(seen.announced).toEqual([120])
  expect(textsOf(companion)).toEqual(texts(120))
  await companion.end()
})

test('sends a first part without a request, and no part that is larger', async () => {
  const { companion } = await awayCompanion(50)
  sim.fault({ kind: 'offline_parts', sender: companion.number, size: 20 })
  companion.reconnect()
  neverAsk(companion)
  const seen = watchWire(companion)
  await eventually(() => seen.offline.length).toBe(20)
  await companion.until(() => companion.isOpen, 'open')
  await requestPart(companion, 100)
  await eventually(() => seen.offline.length).toBe(40)
  await requestPart(companion, 5)
  await eventually(() => seen.offline.length).toBe(45)
  await requestPart(companion, 100)
  await companion.until(() => companion.messages.length === 50, 'what waited')
  await companion.end()
})

/** The first stanza of this kind that is not of the queue. */
function nextLive({ sock }: Companion): Promise<string> {
  return new Promise((resolve) => {
    sock.ws.on('CB:message', ({ attrs }: { attrs: Record<string, string> }) => {
      if (attrs.offline === undefined) resolve(attrs.id ?? '')
    })
  })
}

test('sends what comes later also to a client that does not request the parts', async () => {
  const { companion, contact } = await awayCompanion(10)
  sim.fault({ kind: 'offline_parts', sender: companion.number })
  companion.reconnect()
  neverAsk(companion)
  await companion.until(() => companion.isOpen, 'open')
  const live = nextLive(companion)
  const { wa_message_id: id } = await write(contact, companion, 'live')
  expect(await live).toBe(id)
  await eventually(() => pendingOf(companion)).toBe(10)
  await requestPart(companion, 100)
  await companion.until(() => companion.messages.length === 11, 'the others')
  await companion.end()
})

test('delivers a refused status first at each login, and nothing else that waited', async () => {
  // Baileys refuses what it is told to ignore.
  const companion = await linkedCompanion(sim, newNumber(), {
    shouldIgnoreJid: (jid) => jid === 'status@broadcast',
  })
  const contact = newNumber()
  const { wa_message_id: status } = sim.status(contact, { to: companion.number })
  await write(contact, companion, 'after the status')
  await companion.until(() => companion.messages.length === 1, 'the message')
  await eventually(() => pendingOf(companion)).toBe(1)
  await companion.end()
  const { wa_message_id: heldBack } = await write(contact, companion, 'held back')

  companion.reconnect()
  // On the wire: a message whose processing begins after the end of the queue may stay in Baileys' event buffer for 30 s.
  const offline: string[] = []
  companion.sock.ws.on('CB:message', ({ attrs }: { attrs: Record<string, string> }) => {
    if (attrs.offline !== undefined) offline.push(attrs.id ?? '')
  })
  await companion.until(() => companion.isOpen, 'open')
  const live = nextLive(companion)
  await write(contact, companion, 'live')
  await live
  expect(offline).toEqual([status])
  await companion.sock.sendNode({
    tag: 'ack',
    attrs: { class: 'message', id: status, to: 'status@broadcast' },
  })
  await eventually(() => offline).toEqual([status, heldBack])
  await eventually(() => pendingOf(companion)).toBe(0)
  await companion.end()
})
