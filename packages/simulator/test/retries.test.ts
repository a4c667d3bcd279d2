import { encodeBigEndian, encodeWAMessage } from 'baileys'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { linkedCompanion, newId, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

let sim: Simulator
beforeAll(async () => {
  sim = await startSimulator()
})
afterAll(async () => {
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

test('re-encrypts a message that the companion could not decrypt', async () => {
  const receiver = await linkedCompanion(sim)
  const contact = newNumber()
  const before = receiver.auth.snapshot()
  await sim.send(contact, { to: receiver.number, text: 'first' })
  await receiver.until(() => receiver.messages.length === 1, 'the first message')
  await (await receiver.send(contact, { text: 'so the session is settled' })).ack
  await eventually(() => sim.messages(contact).length).toBe(1)
  receiver.auth.restore(before)
  await sim.send(contact, { to: receiver.number, text: 'second' })
  await receiver.until(
    () => receiver.messages.some((one) => one.message?.conversation === 'second'),
    'the second message',
  )
  await receiver.end()
})

test('reads a message of the former session also after a resend has started another', async () => {
  const sender = await linkedCompanion(sim)
  const contact = newNumber()
  const jid = `${contact}@s.whatsapp.net`
  const { wa_message_id: id } = await sim.send(contact, { to: sender.number, text: 'first' })
  await sender.until(() => sender.messages.length === 1, 'the first message')
  await (await sender.send(contact, { text: 'so the session is settled' })).ack
  await eventually(() => sim.messages(contact).length).toBe(1)
  const { retries, undecryptable } = sim.stats()
  const onItsWay = await sender.sock.signalRepository.encryptMessage({
    jid,
    data: encodeWAMessage({ conversation: 'on its way' }),
  })
  await sender.sock.sendNode({
    tag: 'receipt',
    attrs: { id, type: 'retry', to: jid },
    content: [
      { tag: 'retry', attrs: { count: '1', id, t: '1', v: '1' } },
      { tag: 'registration', attrs: {}, content: encodeBigEndian(sender.auth.creds.registrationId) },
    ],
  })
  await eventually(() => sim.stats().retries).toBe(retries + 1)
  const { type, ciphertext } = onItsWay
  const enc = { tag: 'enc', attrs: { v: '2', type }, content: ciphertext }
  const participants = [{ tag: 'to', attrs: { jid }, content: [enc] }]
  await sender.sock.sendNode({
    tag: 'message',
    attrs: { id: newId(), to: jid, type: 'text' },
    content: [{ tag: 'participants', attrs: {}, content: participants }],
  })
  await eventually(() => sim.messages(contact).map(({ text }) => text)).toContain('on its way')
  expect(sim.stats().undecryptable).toBe(undecryptable)
  await sender.end()
})
