import { once } from 'node:events'
import { connect } from 'node:net'
import QRCode from 'qrcode'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { Companion, linkedCompanion, newNumber } from './companion.ts'

let sim: Simulator
beforeAll(async () => {
  sim = await startSimulator()
})
afterAll(() => sim.close())

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`${sim.controlUrl}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: text }),
  })
  const content = await response.text()
  return { status: response.status, text: content, json: () => JSON.parse(content) }
}

test('scans, sends, reads, breaks and reports over HTTP', async () => {
  const number = newNumber()
  const companion = new Companion(sim)
  const qr = await QRCode.toDataURL(await companion.until(() => companion.qr, 'a QR'))
  const scan = await call('POST', '/scan', { qr, number: `+${number}` })
  expect(scan.json()).toEqual({ ok: true, jid: `${number}:1@s.whatsapp.net` })
  await companion.until(() => companion.isOpen, 'open')
  expect((await call('GET', '/phones')).json()).toMatchObject([{ number, linked: true, connected: true }])

  const contact = newNumber()
  const { id } = await companion.send(contact, { text: 'to the contact' })
  await companion.until(() => companion.statusOf(id) === 3, 'delivered')
  const messages = await call('GET', `/chats/${contact}/messages?from=${number}`)
  expect(messages.json()).toMatchObject([{ wa_message_id: id, text: 'to the contact' }])
  expect((await call('GET', `/chats/${contact}/messages?from=${newNumber()}`)).json()).toEqual([])
  expect((await call('POST', `/chats/${contact}/read`, { wa_message_id: id })).json()).toEqual({ ok: true })
  await companion.until(() => companion.statusOf(id) === 4, 'read')

  const sent = await call('POST', `/chats/${contact}/send`, { to: number, text: 'to the companion' })
  expect(sent.json()).toMatchObject({ ok: true })
  await companion.until(() => companion.messages.length === 1, 'the message')

  const log = (await call('GET', '/log')).text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(log).toMatchObject([
    { sender: number, recipient: contact, wa_message_id: id, ack: 'ok', receipt: true, duplicate: false },
  ])
  const logins = (await call('GET', '/logins')).text.trim().split('\n')
  expect(logins.map((line) => JSON.parse(line))).toMatchObject([{ sender: number, result: 'ok' }])
  const lookups = (await call('GET', '/lookups')).text.trim().split('\n')
  expect(lookups.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({
      sender: number,
      asked: expect.arrayContaining(['devices']),
      numbers: expect.arrayContaining([contact]),
    }),
  )
  expect((await call('GET', '/stats')).json()).toMatchObject({
    connections: { [number]: 1 },
    logins: 1,
    unknown: {},
  })

  const fault = (await call('POST', '/faults', { kind: 'ack_error', code: 463, sender: number })).json()
  expect(await (await companion.send(contact, { text: 'refused' })).ack).toMatchObject({
    attrs: { error: '463' },
  })
  expect((await call('DELETE', `/faults/${fault.id}`)).json()).toEqual({ ok: true })
  const lock = { kind: 'login_failure', sender: number, code: 403, expire: 60, ban_code: 101, count: 1 }
  const texts = { violation_reason: 'spam', appeal_token: 'token' }
  await call('POST', '/faults', { ...lock, ...texts })
  expect((await call('GET', '/faults')).json()).toMatchObject([
    { ...lock, code: '403', ban_code: '101', ...texts },
  ])
  await companion.until(() => companion.closedWith !== undefined, 'the end')
  companion.reconnect()
  await companion.until(() => companion.closedWith === 403, 'code 403')
  companion.reconnect()
  await companion.until(() => companion.isOpen, 'open again')
  expect((await call('DELETE', '/faults')).json()).toEqual({ ok: true })
  expect((await call('POST', '/unlink', { number })).json()).toEqual({ ok: true, unlinked: 1 })
  await companion.until(() => companion.closedWith === 401, 'code 401')
})

test.each([
  ['POST', '/scan', '{', 400],
  ['POST', '/scan', '[]', 400],
  ['POST', '/scan', { qr: 'x' }, 400],
  ['POST', '/scan', { qr: 'x', number: 'nobody' }, 400],
  ['POST', '/scan', { qr: 'a,b,c,d,e', number: '4915112345678' }, 400],
  ['POST', '/chats/4915112345678/send', { to: '4915187654321' }, 400],
  ['POST', '/chats/4915112345678/send', { to: {}, text: 'x' }, 400],
  ['POST', '/chats/x/send', { to: '4915187654321', text: 'x' }, 400],
  ['POST', '/chats/4915112345678/send', { to: '4915187654321', as: 'hologram' }, 400],
  ['POST', '/chats/4915112345678/send', { to: '4915187654321', as: 'sticker', text: 'x' }, 400],
  ['POST', '/chats/4915112345678/send', { to: '4915187654321', as: 'sticker', view_once: true }, 400],
  ['POST', '/chats/4915112345678/send', { to: '4915187654321', as: 'picture', view_once: 1 }, 400],
  ['POST', '/chats/4915112345678/send', { to: '4915187654321', text: 'x', view_once: true }, 400],
  ['POST', '/chats/4915112345678/send', { to: '4915187654321', as: 'gif', poll: {} }, 400],
  ['POST', '/send-many', {}, 400],
  ['POST', '/send-many', { messages: ['x'] }, 400],
  ['POST', '/send-many', { messages: [{ from: '4915112345678', to: 'x', text: 'x' }] }, 400],
  ['POST', '/chats/4915112345678/read', { wa_message_id: 'none' }, 404],
  ['POST', '/faults', { kind: 'flood' }, 400],
  ['POST', '/faults', { kind: 'drop', ms: 'long' }, 400],
  ['POST', '/scan', { qr: 'x', number: '4915112345678', phone: 'x' }, 400],
  ['POST', '/retire-secrets', { number: '4915112345678' }, 400],
  ['POST', '/faults', { kind: 'drop', sendr: '4915112345678' }, 400],
  ['POST', '/send-many', { messages: [{ from: '4915112345678', to: '4915187654321', txt: 'x' }] }, 400],
  ['GET', '/chats/4915112345678/messages?form=4915187654321', undefined, 400],
  ['GET', '/phones?linked=true', undefined, 400],
  ['DELETE', '/faults/none', undefined, 404],
  ['GET', '/nothing', undefined, 404],
  ['GET', '/chats/%E0%A4%A/messages', undefined, 400],
])('refuses %s %s %j with %i', async (method, path, body, status) => {
  const answer = await call(method, path, body)
  expect(answer.status).toBe(status)
  expect(answer.json()).toMatchObject({ ok: false, error: expect.any(String) })
})

test('names the fields that it does not know, and breaks nothing by them', async () => {
  const fault = { kind: 'drop', sendr: '4915112345678' }
  const { error } = (await call('POST', '/faults', fault)).json()
  expect(error).toMatch(/^Unknown: sendr\. .*: kind, sender, number/)
  expect(() => sim.fault(fault as never)).toThrow('Unknown: sendr.')
  expect(sim.faults()).toEqual([])
})

test.each([
  [{}, 'text is missing.'],
  [{ txt: 'x' }, 'Unknown: txt.'],
  [{ text: 'x', location: { latitude: 1, longitude: 2 } }, 'A message is one of text and location.'],
  [{ poll: { name: 'x', options: [] }, delete: { wa_message_id: 'x' } }, 'one of poll and delete.'],
  [{ location: { lat: 1, longitude: 2 } }, 'Unknown: lat. location takes: latitude'],
  [
    {
      contacts: [
        { name: 'x', vcard: 'x' },
        { name: 'x', card: 'x' },
      ],
    },
    'Unknown: card. contacts',
  ],
  [{ reply_to: 'x', poll: { name: 'x', options: [] } }, 'reply_to belongs to a text.'],
])('refuses to send %j, over HTTP and in process', async (written, sentence) => {
  const from = newNumber()
  const to = newNumber()
  const answer = await call('POST', `/chats/${from}/send`, { to, ...written })
  expect({ status: answer.status, error: answer.json().error }).toEqual({
    status: 400,
    error: expect.stringContaining(sentence),
  })
  await expect(sim.send(from, { to, ...written } as never)).rejects.toThrow(sentence)
  expect(sim.timeline(from)).toEqual([])
})

test('keeps an idle connection open, however busy its client is', async () => {
  const { hostname, port } = new URL(sim.controlUrl)
  const socket = connect(Number(port), hostname)
  socket.write('GET /phones HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
  const [head] = await once(socket, 'data')
  expect(head.toString()).not.toMatch(/^keep-alive: timeout/im)
  socket.destroy()
})

test('serves the page to people and refuses what other sites send', async () => {
  const page = await call('GET', '/')
  expect(page.status).toBe(200)
  expect(page.text).toContain('<!doctype html>')
  expect(
    (await call('POST', '/faults', { kind: 'drop' }, { origin: 'http://elsewhere.example' })).status,
  ).toBe(403)
})

test('answers unknown requests with 501, counts and keeps them', async () => {
  const companion = await linkedCompanion(sim)
  const iq = {
    tag: 'iq',
    attrs: { to: '@s.whatsapp.net', type: 'get', xmlns: 'w:future' },
    content: [
      { tag: 'magic', attrs: {}, content: [] },
      { tag: 'key', attrs: {}, content: Buffer.alloc(32) },
    ],
  }
  await expect(companion.sock.query(iq)).rejects.toMatchObject({ data: 501 })
  const kind = 'iq w:future get magic'
  expect(sim.stats().unknown).toEqual({ [kind]: 1 })
  const [entry, ...others] = (await call('GET', '/unknown')).text.trim().split('\n')
  expect(others).toEqual([])
  expect(JSON.parse(entry ?? '')).toEqual({
    t: expect.any(String),
    sender: companion.number,
    kind,
    stanza: expect.stringMatching(/^<iq .*xmlns="w:future".*><magic><\/magic><key>32 bytes<\/key><\/iq>$/),
  })
  await companion.end()
})

test('refuses a status of a companion as it refuses other requests', async () => {
  const companion = await linkedCompanion(sim)
  const stanza = { tag: 'message', attrs: { id: 'A1', to: 'status@broadcast', type: 'text' }, content: [] }
  const ack = companion.sock.waitForMessage('A1')
  await companion.sock.sendNode(stanza)
  expect(await ack).toMatchObject({ tag: 'ack', attrs: { error: '501' } })
  expect(sim.unknown().at(-1)).toMatchObject({ sender: companion.number, kind: 'message to broadcast' })
  await companion.end()
})

test('shows what phones received after it was closed', async () => {
  const short = await startSimulator()
  const companion = await linkedCompanion(short)
  const to = newNumber()
  const { id } = await companion.send(to, { text: 'to look at later' })
  await companion.until(() => companion.statusOf(id) === 3, 'delivered')
  await companion.end()
  await short.close()
  expect(short.messages(to)).toMatchObject([{ wa_message_id: id, text: 'to look at later' }])
})

test('can be closed twice', async () => {
  const short = await startSimulator()
  await Promise.all([short.close(), short.close()])
  await short.close()
})

test('accepts messages without decrypting them when decryption is off', async () => {
  const blind = await startSimulator({ decrypt: false })
  const companion = await linkedCompanion(blind)
  const to = newNumber()
  const { id } = await companion.send(to, { text: 'sealed' })
  await companion.until(() => companion.statusOf(id) === 3, 'delivered')
  expect(blind.messages(to)).toMatchObject([{ wa_message_id: id, type: 'text', text: null }])
  await companion.end()
  await blind.close()
})
