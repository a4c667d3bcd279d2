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

test('refuses an unknown addressing', () => {
  expect(() => sim.fault({ kind: 'addressing', code: 'fax' })).toThrow('needs a code')
})
