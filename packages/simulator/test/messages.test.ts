import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newId, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

let sim: Simulator
let companion: Companion
beforeAll(async () => {
  sim = await startSimulator()
  companion = await linkedCompanion(sim)
})
afterAll(async () => {
  await companion.end()
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

const delivered = 3
const read = 4

test('decrypts a text byte for byte, acknowledges it and reports its delivery', async () => {
  const to = newNumber()
  const text = 'Grüße, 世界! 👩‍👩‍👧 \u0000 \n end '
  const { id, ack } = await companion.send(to, { text })
  expect(await ack).toMatchObject({ tag: 'ack', attrs: { class: 'message', id } })
  await companion.until(() => companion.statusOf(id) >= delivered, 'delivered')
  expect(sim.messages(to)).toEqual([
    {
      wa_message_id: id,
      from: companion.number,
      type: 'text',
      text,
      caption: null,
      mime: null,
      sha256: null,
      size: null,
      received_at: expect.any(String),
      duplicates: 0,
    },
  ])
  expect(sim.log().at(-1)).toMatchObject({ sender: companion.number, recipient: to, ack: 'ok', text })
})

test('keeps the order of arrival', async () => {
  const to = newNumber()
  const texts = Array.from({ length: 30 }, (_, index) => `message ${index}`)
  for (const text of texts) await companion.send(to, { text })
  await eventually(() => sim.messages(to).length).toBe(texts.length)
  expect(sim.messages(to).map((message) => message.text)).toEqual(texts)
})

test('reports a message as read only when it is asked to', async () => {
  const to = newNumber()
  const { id } = await companion.send(to, { text: 'read me' })
  await companion.until(() => companion.statusOf(id) === delivered, 'delivered')
  sim.read(to, { wa_message_id: id })
  await companion.until(() => companion.statusOf(id) === read, 'read')
})

test('counts the repeat of an id instead of showing it twice', async () => {
  const to = newNumber()
  const id = newId()
  for (let attempt = 0; attempt < 3; attempt++) await (await companion.send(to, { text: 'once' }, id)).ack
  await eventually(() => sim.messages(to)[0]?.duplicates).toBe(2)
  expect(sim.messages(to)).toHaveLength(1)
  expect(sim.log().filter((entry) => entry.wa_message_id === id)).toMatchObject([
    { duplicate: false },
    { duplicate: true },
    { duplicate: true },
  ])
})

test('delivers what many contacts write at the same time, in the order of the list', async () => {
  const contacts = [newNumber(), newNumber()]
  const messages = Array.from({ length: 20 }, (_, index) => ({
    from: contacts[index % 2] ?? '',
    to: companion.number,
    text: `one of many ${index}`,
  }))
  const { wa_message_ids: ids } = await sim.sendMany({ messages })
  const onPhone = sim.messages(companion.number).filter((one) => ids.includes(one.wa_message_id))
  expect(onPhone.map(({ from, text }) => ({ from, to: companion.number, text }))).toEqual(messages)
  expect(onPhone.map((one) => one.wa_message_id)).toEqual(ids)
  const arrived = () => companion.messages.filter(({ key }) => ids.includes(key.id ?? ''))
  await companion.until(() => arrived().length === messages.length, 'all of them')
  // Baileys may change the order of messages of new contacts.
  expect(new Set(arrived().map(({ message }) => message?.conversation))).toEqual(
    new Set(messages.map(({ text }) => text)),
  )
})

test('delivers what a contact writes', async () => {
  const contact = newNumber()
  const { wa_message_id } = await sim.send(contact, { to: companion.number, text: 'hello there' })
  const message = await companion.until(
    () => companion.messages.find((one) => one.key.id === wa_message_id),
    'the message',
  )
  expect(message).toMatchObject({
    key: { remoteJid: `${contact}@s.whatsapp.net`, fromMe: false },
    message: { conversation: 'hello there' },
    pushName: `+${contact}`,
  })
})

test('keeps a conversation going in both directions', async () => {
  const contact = newNumber()
  for (let turn = 0; turn < 4; turn++) {
    const { ack } = await companion.send(contact, { text: `question ${turn}` })
    await ack
    const { wa_message_id: id } = await sim.send(contact, { to: companion.number, text: `answer ${turn}` })
    await companion.until(() => companion.messages.some((one) => one.key.id === id), `answer ${turn}`)
  }
  await eventually(() => sim.messages(contact).length).toBe(4)
  expect(companion.messages.filter((one) => one.messageStubType)).toEqual([])
})

test('delivers messages that arrived while the companion was offline', async () => {
  const away = await linkedCompanion(sim)
  const contact = newNumber()
  const { id } = await away.send(contact, { text: 'see you' })
  await away.until(() => away.statusOf(id) >= delivered, 'delivered')
  await away.end()
  for (const text of ['one', 'two', 'three']) await sim.send(contact, { to: away.number, text })
  sim.read(contact, { wa_message_id: id })
  away.reconnect()
  // What its phone had sent it before it left, such as a history, may come again among them.
  await eventually(() => away.messages.flatMap(({ message }) => message?.conversation ?? [])).toEqual([
    'one',
    'two',
    'three',
  ])
  await away.until(() => away.statusOf(id) === read, 'the receipt')
  await eventually(
    () => sim.phones().find((phone) => phone.number === away.number)?.companions[0]?.pending,
  ).toBe(0)
  await away.end()
})

test('shows the own phone what its companion sent', async () => {
  const to = newNumber()
  const { id } = await companion.send(to, { text: 'from the companion' })
  await companion.until(() => companion.statusOf(id) >= delivered, 'delivered')
  await eventually(() =>
    sim.timeline(companion.number).find((entry) => entry.wa_message_id === id),
  ).toMatchObject({ direction: 'out', with: to, text: 'from the companion' })
})

test('passes messages on between companions of different and of the same phones', async () => {
  const other = await linkedCompanion(sim)
  const sibling = await linkedCompanion(sim, other.number)
  const { id } = await companion.send(other.number, { text: 'to a companion' })
  for (const receiver of [other, sibling]) {
    const message = await receiver.until(
      () => receiver.messages.find((one) => one.key.id === id),
      'the message',
    )
    expect(message.message?.extendedTextMessage?.text).toBe('to a companion')
    expect(message.key).toMatchObject({ remoteJid: `${companion.number}@s.whatsapp.net`, fromMe: false })
  }
  const contact = newNumber()
  const sent = await sibling.send(contact, { text: 'mine' })
  const copy = await other.until(() => other.messages.find((one) => one.key.id === sent.id), 'the copy')
  expect(copy.key).toMatchObject({ remoteJid: `${contact}@s.whatsapp.net`, fromMe: true })
  await Promise.all([other.end(), sibling.end()])
})

test('finds numbers on WhatsApp unless a fault says otherwise', async () => {
  const present = newNumber()
  const missing = newNumber()
  const { id } = sim.fault({ kind: 'not_on_whatsapp', number: missing })
  // Baileys leaves out numbers that are not on WhatsApp.
  expect(await companion.sock.onWhatsApp(`+${present}`, `+${missing}`)).toEqual([
    { jid: `${present}@s.whatsapp.net`, exists: true },
  ])
  sim.clearFault(id)
  expect(await companion.sock.onWhatsApp(`+${missing}`)).toMatchObject([{ exists: true }])
})

test('leaves a number out of a look-up, refuses one, limits look-ups and refuses a query for one number', async () => {
  const [first, second] = [newNumber(), newNumber()]
  const lookUp = () => companion.sock.onWhatsApp(`+${first}`, `+${second}`)
  const sender = companion.number
  const found = [{ jid: `${second}@s.whatsapp.net`, exists: true }]
  sim.fault({ kind: 'lookup_omit', sender, number: first, count: 1 })
  expect(await lookUp()).toEqual(found)
  sim.fault({ kind: 'lookup_error', sender, number: first, code: '500', count: 1 })
  await expect(lookUp()).rejects.toThrow()
  sim.fault({ kind: 'lookup_error', sender, code: '429', backoff: 60, count: 1 })
  expect(await lookUp()).toEqual([])
  sim.fault({ kind: 'lookup_refuse', sender, number: second, code: '400', count: 1 })
  await expect(lookUp()).rejects.toMatchObject({ data: 400 })
  expect(await lookUp()).toHaveLength(2)
})

test('asks for a message again that it cannot decrypt', async () => {
  const sender = await linkedCompanion(sim)
  const to = newNumber()
  await (await sender.send(to, { text: 'establishes the session' })).ack
  const earlier = sender.auth.snapshot()
  await (await sender.send(to, { text: 'uses a message key' })).ack
  sender.auth.restore(earlier)
  const before = sim.stats()
  const { id } = await sender.send(to, { text: 'uses the same key again' })
  await sender.until(() => sender.statusOf(id) >= delivered, 'delivered after all')
  expect(sim.messages(to).map((one) => one.text)).toEqual([
    'establishes the session',
    'uses a message key',
    'uses the same key again',
  ])
  expect(sim.stats().undecryptable).toBeGreaterThan(before.undecryptable)
  expect(sim.stats().retries).toBeGreaterThan(before.retries)
  await sender.end()
})

test('asks for more pre-keys before they run out', async () => {
  const target = await linkedCompanion(sim)
  await sim.send(newNumber(), { to: target.number, text: 'uses one' })
  const uploads = sim.stats().prekey_uploads
  const jid = `${target.sock.user?.id}`
  for (let fetched = 0; fetched < 812; fetched += 100) {
    await companion.sock.query({
      tag: 'iq',
      attrs: { to: '@s.whatsapp.net', type: 'get', xmlns: 'encrypt' },
      content: [
        {
          tag: 'key',
          attrs: {},
          content: Array.from({ length: 100 }, () => ({ tag: 'user', attrs: { jid } })),
        },
      ],
    })
  }
  await eventually(() => sim.stats().prekey_uploads).toBe(uploads + 1)
  await target.end()
})
