import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { lidJid } from '../src/network/jid.ts'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newId, newNumber } from './companion.ts'
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
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0, undecryptable: 0 })
  await sim.close()
})

async function answerOf(contact: string) {
  const { wa_message_id: id } = await sim.send(contact, { to: companion.number, text: 'answer' })
  const { key } = await companion.until(
    () => companion.messages.find((one) => one.key.id === id && !one.messageStubType),
    'the answer',
  )
  return key
}

const pnOf = (number: string) => `${number}@s.whatsapp.net`

test('answers from the address that the companion wrote to', async () => {
  const contact = newNumber()
  const ack = await companion.send(contact, { text: 'to the number' })
  await ack.ack
  await eventually(() => sim.messages(contact).length).toBe(1)
  expect(await answerOf(contact)).toMatchObject({ remoteJid: pnOf(contact), remoteJidAlt: lidJid(contact) })
  const id = newId()
  await companion.sock.sendMessage(lidJid(contact), { text: 'to the LID' }, { messageId: id })
  await companion.until(() => companion.statusOf(id) >= 3, 'delivered')
  expect(await answerOf(contact)).toMatchObject({ remoteJid: lidJid(contact), remoteJidAlt: pnOf(contact) })
  const back = await companion.send(contact, { text: 'to the number again' })
  await companion.until(() => companion.statusOf(back.id) >= 3, 'delivered')
  expect(await answerOf(contact)).toMatchObject({ remoteJid: pnOf(contact) })
})

test.each([
  ['pn', (contact: string) => ({ remoteJid: pnOf(contact), remoteJidAlt: lidJid(contact) })],
  ['lid', (contact: string) => ({ remoteJid: lidJid(contact), remoteJidAlt: pnOf(contact) })],
  ['lid_only', (contact: string) => ({ remoteJid: lidJid(contact), remoteJidAlt: undefined })],
])('writes and sends receipts from the address that the fault names: %s', async (code, key) => {
  const contact = newNumber()
  sim.fault({ kind: 'addressing', code, sender: companion.number, number: contact })
  const receipts: string[] = []
  companion.sock.ws.on('CB:receipt', ({ attrs }: { attrs: Record<string, string> }) => {
    receipts.push(attrs.from ?? '')
  })
  expect(await answerOf(contact)).toMatchObject(key(contact))
  const { id } = await companion.send(contact, { text: 'hello' })
  await companion.until(() => companion.statusOf(id) >= 3, 'delivered')
  sim.read(contact, { wa_message_id: id })
  await companion.until(() => companion.statusOf(id) >= 4, 'read')
  expect(new Set(receipts)).toEqual(new Set([key(contact).remoteJid]))
})

test('shows a person who hides the number only by the LID', async () => {
  const contact = newNumber()
  const shown = new Set<string>()
  for (const event of ['CB:message', 'CB:receipt', 'CB:notification'])
    companion.sock.ws.on(event, ({ attrs }: { attrs: Record<string, string> }) => {
      for (const value of Object.values(attrs)) shown.add(value)
    })
  expect(sim.identity(contact, { hidden: true, username: 'ann.b' })).toMatchObject({ lid: lidJid(contact) })
  expect(await answerOf(contact)).toMatchObject({ remoteJid: lidJid(contact), remoteJidAlt: undefined })
  const { id } = await sendToLid(contact, 'hello')
  sim.read(contact, { wa_message_id: id })
  await companion.until(() => companion.statusOf(id) >= 4, 'read')
  sim.giveToken(contact, { to: companion.number })
  sim.reinstall(contact)
  await eventually(() => ['encrypt', 'privacy_token'].filter((type) => !shown.has(type))).toEqual([])
  expect([...shown].filter((value) => value.includes(contact))).toEqual([])
  expect(shown).toContain('ann.b')
})

test('shows the number of a person who no longer hides it', async () => {
  const contact = newNumber()
  sim.identity(contact, { hidden: true })
  await answerOf(contact)
  sim.identity(contact, { hidden: false })
  await sendToLid(contact, 'hello')
  expect(await answerOf(contact)).toMatchObject({ remoteJid: lidJid(contact), remoteJidAlt: pnOf(contact) })
})

async function sendToLid(contact: string, text: string): Promise<{ id: string }> {
  const id = newId()
  await companion.sock.sendMessage(lidJid(contact), { text }, { messageId: id })
  await companion.until(() => companion.statusOf(id) >= 3, 'delivered')
  return { id }
}

test('refuses an unknown addressing', () => {
  expect(() => sim.fault({ kind: 'addressing', code: 'fax' })).toThrow('needs a code')
})
