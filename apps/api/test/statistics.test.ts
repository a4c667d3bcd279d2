import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, randomPhone, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

type Account = Awaited<ReturnType<Gateway['createAccount']>>
const none = { sent: 0, delivered: 0, read: 0, failed: 0, received: 0 }
type Counts = Partial<typeof none>

async function count(
  account: Account,
  day: string,
  sender: string,
  code: string,
  counts: Counts,
): Promise<void> {
  const { sent, delivered, read, failed, received } = { ...none, ...counts }
  await gateway.db.$client`
    INSERT INTO message_counts (day, account_id, sender, error_code, sent, delivered, read, failed, received)
    VALUES (${day}, ${account.userId}, ${sender}, ${code}, ${sent}, ${delivered}, ${read}, ${failed}, ${received})`
}

const [first, second] = ['15552095101', '15552095102']
const march = { from: '2026-03-01', to: '2026-03-31' }
const expired = 'message_expired'

/** What two senders did on two days, and one of them in another month. */
async function createCounted(): Promise<Account> {
  const account = await gateway.createAccount()
  await count(account, '2026-03-01', first, '', { sent: 3, delivered: 2, read: 1, received: 5 })
  await count(account, '2026-03-01', first, expired, { failed: 2 })
  await count(account, '2026-03-01', second, '', { sent: 10 })
  await count(account, '2026-03-31', second, '', { sent: 1 })
  await count(account, '2026-03-31', second, 'opted_out', { failed: 1 })
  await count(account, '2026-04-01', second, '', { sent: 100 })
  await count(account, '2026-02-28', first, '', { sent: 100 })
  return account
}

const totals = { sent: 14, delivered: 2, read: 1, failed: 3, received: 5 }
const of = (counts: Counts) => ({ ...none, ...counts })

test.each([
  {
    by: 'day',
    rows: [
      { day: '2026-03-01', ...of({ sent: 13, delivered: 2, read: 1, failed: 2, received: 5 }) },
      { day: '2026-03-31', ...of({ sent: 1, failed: 1 }) },
    ],
  },
  {
    by: 'sender',
    rows: [
      { sender: first, ...of({ sent: 3, delivered: 2, read: 1, failed: 2, received: 5 }) },
      { sender: second, ...of({ sent: 11, failed: 1 }) },
    ],
  },
  {
    by: ['code'],
    rows: [
      { code: null, ...of({ sent: 14, delivered: 2, read: 1, received: 5 }) },
      { code: expired, ...of({ failed: 2 }) },
      { code: 'opted_out', ...of({ failed: 1 }) },
    ],
  },
  {
    by: ['sender', 'day', 'sender'],
    rows: [
      { day: '2026-03-01', sender: first, ...of({ sent: 3, delivered: 2, read: 1, failed: 2, received: 5 }) },
      { day: '2026-03-01', sender: second, ...of({ sent: 10 }) },
      { day: '2026-03-31', sender: second, ...of({ sent: 1, failed: 1 }) },
    ],
  },
])('adds up the days of a month by $by', async ({ by, rows }) => {
  const account = await createCounted()
  const { body } = await account.post('/statistics', { ...march, by })
  expect(body).toEqual({ ok: true, ...march, totals, rows, next_after: null })
})

test('counts those of one sender, in either form of its number, and none of another account', async () => {
  const [account, other] = [await createCounted(), await gateway.createAccount()]
  const { body } = await account.get('/statistics', { ...march, sender: `+${first}`, by: 'sender' })
  expect(body).toMatchObject({ totals: { sent: 3, failed: 2 }, rows: [{ sender: first }] })
  await count(account, '2026-03-05', '5511987654321', '', { sent: 7 })
  const { body: ofForm } = await account.get('/statistics', { ...march, sender: '551187654321' })
  expect(ofForm.totals).toMatchObject({ sent: 7 })
  for (const given of [march, { ...march, sender: first }]) {
    const { body: foreign } = await other.get('/statistics', given)
    expect(foreign).toEqual({ ok: true, ...march, totals: none, rows: [], next_after: null })
  }
})

test('pages have each row once, and the totals of all', async () => {
  const account = await createCounted()
  const given = { ...march, by: 'day,sender,code' }
  const { body: all } = await account.get('/statistics', given)
  const rows: unknown[] = []
  for (let after: unknown = undefined; after !== null; ) {
    const { body } = await account.get('/statistics', {
      ...given,
      limit: '2',
      ...(after ? { after: String(after) } : {}),
    })
    expect(body.totals).toEqual(totals)
    rows.push(...(body.rows as unknown[]))
    after = body.next_after
  }
  expect(rows).toHaveLength(5)
  expect(rows).toEqual(all.rows)
})

test('shows the last seven days by default', async () => {
  const { account, sender } = await createSender(gateway)
  const dayAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
  await count(account, dayAgo(6), sender, '', { sent: 1 })
  await count(account, dayAgo(7), sender, '', { sent: 100 })
  expect((await account.get('/statistics')).body).toMatchObject({
    from: dayAgo(6),
    to: dayAgo(0),
    totals: { sent: 1 },
  })
  const { body } = await account.get('/statistics', { to: dayAgo(1) })
  expect(body).toMatchObject({ from: dayAgo(7), to: dayAgo(1), totals: { sent: 101 } })
})

test('shows at most 92 days', async () => {
  const account = await gateway.createAccount()
  const { status } = await account.get('/statistics', { from: '2026-01-01', to: '2026-04-02' })
  expect(status).toBe(200)
  const refusals = [
    [{ from: '2026-01-01', to: '2026-04-03' }, 'from must be at most 91 days before to'],
    [{ from: '2026-01-01' }, 'from must be at most 91 days before to, which is today by default'],
    [{ from: '2026-04-02', to: '2026-04-01' }, 'from must not be later than to'],
    [{ from: '2999-01-01' }, 'from must not be later than to, which is today by default'],
    [{ from: '2026-02-30' }, 'from must be a day, such as 2030-01-31'],
    [{ to: '0000-01-01' }, 'to must be a day, such as 2030-01-31'],
    [{ to: '2026-01-31T12:00:00Z' }, 'to must be a day, such as 2030-01-31'],
    [{ by: 'day,week' }, 'by must be one or more of day, sender, code, separated by commas'],
    [{ by: [] }, 'by must be one or more of day, sender, code, separated by commas'],
  ] as const
  for (const [given, error] of refusals) {
    const { status, body } = await account.post('/statistics', given)
    expect({ status, code: body.code, error: body.error }).toEqual({
      status: 400,
      code: 'invalid_parameter',
      error,
    })
  }
})

test('refuses what is no cursor, and that of a page by something else', async () => {
  const account = await createCounted()
  const first = await account.get('/statistics', { ...march, by: 'sender', limit: '1' })
  for (const after of ['x', '////', `${randomPhone()}/'`, '2026-03-01', String(first.body.next_after)]) {
    const { status, body } = await account.get('/statistics', { ...march, by: 'day', after })
    expect({ status, details: body.details }).toMatchObject({
      status: 400,
      details: [{ parameter: 'after' }],
    })
  }
})
