import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

let sim: Simulator
let companion: Companion
beforeAll(async () => {
  sim = await startSimulator()
  companion = await linkedCompanion(sim)
})
afterAll(async () => {
  await companion.end()
  await sim.close()
})

async function receive() {
  const contact = newNumber()
  const { wa_message_id } = await sim.send(contact, { to: companion.number, text: 'hello there' })
  const { key } = await companion.until(
    () => companion.messages.find((one) => one.key.id === wa_message_id),
    'the message',
  )
  const statusOn = (phone: string) =>
    sim.timeline(phone).find((entry) => entry.wa_message_id === wa_message_id)?.status
  return { contact, key, statusOn }
}

test('a message that a companion has read is read on the phone of its sender and on its own phone', async () => {
  const { contact, key, statusOn } = await receive()
  expect(statusOn(companion.number)).toBe('received')
  await companion.sock.readMessages([key])
  await eventually(() => statusOn(contact)).toBe('read')
  expect(statusOn(companion.number)).toBe('read')
})

test('a companion may say only to its own phone that it has read a message', async () => {
  const { contact, key, statusOn } = await receive()
  await companion.sock.sendReceipts([key], 'read-self')
  await eventually(() => statusOn(companion.number)).toBe('read')
  expect(statusOn(contact)).toBe('delivered')
})
