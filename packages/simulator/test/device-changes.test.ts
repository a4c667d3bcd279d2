import type { BinaryNode } from 'baileys'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

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

const delivered = 3

function watchNotifications({ sock }: Companion): BinaryNode[] {
  const seen: BinaryNode[] = []
  sock.ws.on('CB:notification', (node: BinaryNode) => seen.push(node))
  return seen
}

const changeOf = ({ content }: BinaryNode) => (Array.isArray(content) ? content[0] : undefined)

async function writeTo(number: string, text: string): Promise<void> {
  const { id } = await companion.send(number, { text })
  await companion.until(() => companion.statusOf(id) >= delivered, `${text} is delivered`)
}

test('tells those who write to a phone of its new and removed companions', async () => {
  const contact = newNumber()
  await writeTo(contact, 'to the phone')
  const seen = watchNotifications(companion)
  const added = await linkedCompanion(sim, contact)
  const jid = added.sock.user?.id
  await eventually(() => seen.map((one) => changeOf(one)?.tag)).toEqual(['add'])
  expect(seen[0]?.attrs).toMatchObject({ type: 'devices', from: `${contact}@s.whatsapp.net` })
  expect(changeOf(seen[0] as BinaryNode)?.content).toMatchObject([
    { tag: 'device', attrs: { jid, 'key-index': '1' } },
    { tag: 'key-index-list' },
  ])
  await writeTo(contact, 'to both')
  await added.until(() => added.messages.length === 1, 'the message on the new companion')
  sim.unlink({ number: contact })
  await eventually(() => seen.map((one) => changeOf(one)?.tag)).toEqual(['add', 'remove'])
  await writeTo(contact, 'to the phone alone')
  expect(sim.messages(contact)).toHaveLength(3)
})

test('tells the other companions of the same phone', async () => {
  const seen = watchNotifications(companion)
  const sibling = await linkedCompanion(sim, companion.number)
  await eventually(() => seen.map((one) => changeOf(one)?.tag)).toEqual(['add'])
  const { id } = await companion.send(newNumber(), { text: 'mine' })
  await sibling.until(() => sibling.messages.some(({ key }) => key.id === id), 'the copy')
  await sibling.end()
})

test('tells of a change as an update, or not at all, when a fault says so', async () => {
  const [updated, silent] = [newNumber(), newNumber()]
  await writeTo(updated, 'before')
  await writeTo(silent, 'before')
  const seen = watchNotifications(companion)
  sim.fault({ kind: 'changes_as_update', number: updated })
  sim.fault({ kind: 'changes_omit', number: silent })
  const others = [await linkedCompanion(sim, silent), await linkedCompanion(sim, updated)]
  await eventually(() => seen.map((one) => changeOf(one)?.tag)).toEqual(['update'])
  await writeTo(updated, 'after')
  await others[1]?.until(() => others[1]?.messages.length === 1, 'the message')
  for (const other of others) await other.end()
})

test('tells of the new identity of a phone, and keeps both sides readable', async () => {
  const contact = newNumber()
  await writeTo(contact, 'before')
  const linked = await linkedCompanion(sim, contact)
  const seen = watchNotifications(companion)
  const { undecryptable } = sim.stats()
  sim.reinstall(contact)
  await linked.until(() => linked.closedWith === 401, 'code 401')
  await eventually(() => seen.map((one) => changeOf(one)?.tag)).toEqual(['remove', 'identity'])
  expect(seen[1]?.attrs).toMatchObject({ type: 'encrypt', from: `${contact}@s.whatsapp.net` })
  await eventually(
    () => sim.phones().find(({ number }) => number === companion.number)?.companions[0]?.pending,
  ).toBe(0)
  await writeTo(contact, 'after')
  const { wa_message_id: id } = await sim.send(contact, { to: companion.number, text: 'from the new one' })
  await companion.until(() => companion.messages.some(({ key }) => key.id === id), 'the answer')
  expect(sim.messages(contact).map(({ text }) => text)).toEqual(['before', 'after'])
  expect(sim.stats().undecryptable).toBe(undecryptable)
})

test('asks again for what was on its way when the phone got a new identity', async () => {
  const contact = newNumber()
  await writeTo(contact, 'before')
  sim.fault({ kind: 'changes_omit', number: contact })
  sim.reinstall(contact)
  const { undecryptable } = sim.stats()
  await writeTo(contact, 'of the former session')
  expect(sim.stats().undecryptable).toBe(undecryptable + 1)
  expect(sim.messages(contact).map(({ text }) => text)).toEqual(['before', 'of the former session'])
})
