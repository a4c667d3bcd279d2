import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

type Sender = Awaited<ReturnType<typeof createSender>>

const number = '4915199999999'
const [lid, otherLid] = ['1000000000000017', '1000000000000018']

/** A sender with four messages: texts that were read and failed, an image from a LID, and the answer to it. */
async function createHistory(): Promise<Sender & { ids: Record<string, string> }> {
  const sender = await createSender(gateway)
  const rows = [
    ['read', 'out', 'text', 'read', number, null, 3600],
    ['failed', 'out', 'text', 'failed', '4915188888888', null, 2400],
    ['received', 'in', 'image', 'received', '', `${lid}@lid`, 1200],
    ['answer', 'out', 'text', 'delivered', '4915177777777', `${lid}@lid`, 600],
  ] as const
  const ids: Record<string, string> = {}
  for (const [name, direction, type, status, to, jid, ageSeconds] of rows) {
    const id = makeMessageId(sender.sender, Date.now() - ageSeconds * 1000)
    ids[name] = id
    await gateway.db.$client`
      INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, recipient_jid, body, status,
        error_code, wa_id, link_generation, created_at)
      VALUES (${id}, ${sender.account.userId}, ${sender.deviceId}, ${direction}, ${type}, ${sender.sender}, ${to}, ${jid},
        ${name}, ${status}, ${status === 'failed' ? 'message_expired' : null}, 'X', 1,
        now() - ${ageSeconds}::int * interval '1 s')`
  }
  return { ...sender, ids }
}

type Shown = { message_id: string; created_at: string; message: string | null; caption: string | null }

async function read({ account }: Pick<Sender, 'account'>, query: Record<string, string>) {
  const { status, body } = await account.get('/messages', query)
  expect(status).toBe(200)
  const messages = body.messages as Shown[]
  const { has_more, next_before, next_after, next_updated_after } = body
  const names = messages.map(({ message, caption }) => message ?? caption)
  return { messages, names, has_more, next_before, next_after, next_updated_after }
}

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

test('filters by direction, type, LID and time, alone and combined', async () => {
  const history = await createHistory()
  const cases: [Record<string, string>, string[]][] = [
    [{ direction: 'in' }, ['received']],
    [{ direction: 'out' }, ['answer', 'failed', 'read']],
    [{ direction: 'out', status: 'received' }, []],
    [{ type: 'image' }, ['received']],
    [{ type: 'text', status: 'failed' }, ['failed']],
    [{ lid }, ['answer', 'received']],
    [{ lid, direction: 'out' }, ['answer']],
    [{ lid: otherLid }, []],
    [{ from: ago(2500) }, ['answer', 'received', 'failed']],
    [{ from: ago(2500), to: ago(1000) }, ['received', 'failed']],
    [{ to: ago(1000), type: 'text', direction: 'out', number }, ['read']],
    [{ from: ago(100) }, []],
  ]
  for (const [query, names] of cases)
    expect((await read(history, query)).names, JSON.stringify(query)).toEqual(names)
})

test('times are compared to the millisecond that a message shows: not before `from`, and before `to`', async () => {
  const history = await createHistory()
  const [last] = (await read(history, { limit: '1' })).messages
  const at = last?.created_at ?? ''
  expect((await read(history, { from: at })).names).toEqual(['answer'])
  expect((await read(history, { to: at })).names).toEqual(['received', 'failed', 'read'])
})

describe('a program that polls with `after`', () => {
  test('gets what is newer, the oldest first page by page, and then what arrives', async () => {
    const history = await createHistory()
    const first = await read(history, { after: history.ids.read ?? '', limit: '2' })
    expect(first).toMatchObject({ names: ['received', 'failed'], has_more: true, next_before: null })
    expect(first.next_after).toBe(history.ids.received)
    const second = await read(history, { after: String(first.next_after), limit: '2' })
    expect(second).toMatchObject({ names: ['answer'], has_more: false, next_after: history.ids.answer })
    await history.account.post('/send-message', { sender: history.sender, number, message: 'new' })
    const third = await read(history, { after: String(second.next_after) })
    expect(third).toMatchObject({ names: ['new'], has_more: false, next_after: history.ids.answer })
  })

  test('cannot begin at an unknown message or one of another account', async () => {
    const [one, other] = [await createHistory(), await createHistory()]
    for (const after of [makeMessageId(number), other.ids.read]) {
      expect(await one.account.get('/messages', { after: after ?? '' })).toMatchObject({
        status: 404,
        body: { code: 'message_not_found', error: 'The account has no such message.' },
      })
    }
  })
})

describe('a program that polls with `updated_after`', () => {
  async function sendTwo(sender: Sender) {
    const ids: string[] = []
    for (const message of ['one', 'two']) {
      const { body } = await sender.account.post('/send-message', { sender: sender.sender, number, message })
      ids.push(String(body.message_id))
    }
    return ids as [string, string]
  }

  /** As a worker records it. */
  async function recordSent(id: string): Promise<void> {
    await gateway.db.$client`
      WITH sent AS (UPDATE messages SET status = 'sent', sent_at = now() WHERE id = ${id} RETURNING *)
      INSERT INTO events (account_id, device_id, type, message_id) SELECT account_id, device_id, 2, id FROM sent`
  }

  /** A change can be read when all transactions of the server that began earlier have ended. */
  async function readUntil(sender: Sender, names: string[], query: Record<string, string>) {
    await expect.poll(async () => (await read(sender, query)).names, { timeout: 10_000 }).toEqual(names)
    return read(sender, query)
  }

  test('gets each message that has changed, as it is now, from a time on and then from a cursor', async () => {
    const sender = await createSender(gateway)
    const [one] = await sendTwo(sender)
    const first = await readUntil(sender, ['two', 'one'], { updated_after: ago(5) })
    const next = String(first.next_updated_after)
    expect(first).toMatchObject({ has_more: false, next_before: null, next_after: null })
    await recordSent(one)
    const second = await readUntil(sender, ['one'], { updated_after: next })
    expect(second.messages).toMatchObject([{ message_id: one, status: 'sent' }])
    expect(await read(sender, { updated_after: String(second.next_updated_after) })).toMatchObject({
      names: [],
    })
    expect((await read(sender, { updated_after: next, status: 'failed' })).names).toEqual([])
    expect((await read(sender, { updated_after: next, status: 'sent', direction: 'out' })).names).toEqual([
      'one',
    ])
  })

  test('gets no messages of another account, also with its cursor', async () => {
    const [one, other] = [await createSender(gateway), await createSender(gateway)]
    const since = ago(5)
    await sendTwo(other)
    const { next_updated_after: next } = await readUntil(other, ['two', 'one'], {
      updated_after: since,
      limit: '2',
    })
    await sendTwo(other)
    expect((await read(one, { updated_after: since })).names).toEqual([])
    expect((await read(one, { updated_after: String(next) })).names).toEqual([])
  })

  test('is told when changes since then are no longer kept', async () => {
    const { account } = await createSender(gateway)
    expect(await account.get('/messages', { updated_after: '2020-01-01T00:00:00Z' })).toMatchObject({
      status: 410,
      body: { code: 'cursor_expired' },
    })
  })
})

test.each([
  { after: 'x' },
  { direction: 'inbound' },
  { type: 'fax' },
  { lid: '12@lid' },
  { lid: '1' },
  { from: '2026-01-31' },
  { to: 'now' },
  { updated_after: 'evt_1' },
  { updated_after: 'yesterday' },
  { from: '2026-01-31T12:00:00Z', to: '2026-01-31T11:59:59Z' },
  { updated_after: '2026-01-31T12:00:00Z', before: makeMessageId(number) },
  { updated_after: '2026-01-31T12:00:00Z', after: makeMessageId(number) },
] as Record<string, string>[])('refuses %j', async (query) => {
  expect(await gateway.admin.get('/messages', query)).toMatchObject({
    status: 400,
    body: { code: 'invalid_parameter', details: [{ parameter: Object.keys(query)[0] }] },
  })
})
