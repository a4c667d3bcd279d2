import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const number = '4915187654321'
const shown = { number }

test('an opt-out is listed until the opt-in, once, and only for its account', async () => {
  const [account, other] = [await gateway.createAccount(), await gateway.createAccount()]
  const { body: first } = await account.post('/opt-out', { number: `+${number}` })
  expect(first).toEqual({ ok: true, ...shown, created_at: expect.any(String) })
  expect((await account.post('/opt-out', { number })).body).toEqual(first)
  const { ok: _, ...optOut } = first
  expect((await account.get('/opt-outs')).body).toEqual({ ok: true, opt_outs: [optOut], next_after: null })
  expect((await other.get('/opt-outs')).body.opt_outs).toEqual([])
  expect((await other.post('/opt-in', { number })).body.was_opted_out).toBe(false)
  expect((await account.post('/opt-in', { number })).body).toEqual({
    ok: true,
    ...shown,
    was_opted_out: true,
  })
  expect((await account.post('/opt-in', { number })).body.was_opted_out).toBe(false)
  expect((await account.get('/opt-outs')).body.opt_outs).toEqual([])
})

test('an opt-out counts for both forms of a number', async () => {
  const account = await gateway.createAccount()
  await account.post('/opt-out', { number: '5511987654321' })
  expect((await account.post('/opt-out', { number: '551187654321' })).body.number).toBe('5511987654321')
  expect((await account.post('/opt-in', { number: '551187654321' })).body.was_opted_out).toBe(true)
})

test('opt-outs have pages in the order of their numbers', async () => {
  const account = await gateway.createAccount()
  const numbers = [3, 1, 2].map((last) => `491518765432${last}`)
  for (const one of numbers) await account.post('/opt-out', { number: one })
  const { body: page } = await account.get('/opt-outs', { limit: '2' })
  const { body: rest } = await account.get('/opt-outs', { limit: '2', after: String(page.next_after) })
  const listed = [page, rest].flatMap(({ opt_outs }) => opt_outs as { number: string }[])
  expect(listed.map((optOut) => optOut.number)).toEqual([...numbers].sort())
  expect(rest.next_after).toBeNull()
})

test('each change has an event, and a repetition has none', async () => {
  const account = await gateway.createAccount()
  for (const path of ['/opt-in', '/opt-out', '/opt-out', '/opt-in']) await account.post(path, { number })
  const read = async () =>
    ((await account.get('/events')).body.events as { type: string; data: unknown }[]).map(
      ({ type, data }) => ({ type, data }),
    )
  const data = { number, lid: null }
  await expect.poll(read, { timeout: 10_000 }).toEqual([
    { type: 'recipient.opted_out', data },
    { type: 'recipient.opted_in', data },
  ])
})

describe('an import', () => {
  const numbers = ['15552084411', '15552084412', '5511987654321']

  test('counts those for whom it is new, and can be repeated', async () => {
    const [account, other] = [await gateway.createAccount(), await gateway.createAccount()]
    await account.post('/opt-out', { number: '15552084411', reason: 'asked' })
    const given = { numbers: [...numbers, `+${numbers[1]}`], source: 'former supplier' }
    const first = await account.post('/import-opt-outs', given)
    expect(first.body).toEqual({ ok: true, numbers: 3, changed: 2 })
    expect((await account.post('/import-opt-outs', given)).body).toMatchObject({ changed: 0 })
    expect((await account.get('/opt-outs')).body.opt_outs).toMatchObject([
      { number: '15552084411', reason: 'asked', source: 'former supplier' },
      { number: '15552084412', source: 'former supplier' },
      { number: '5511987654321', source: 'former supplier' },
    ])
    expect((await other.get('/opt-outs')).body.opt_outs).toEqual([])
    const readEvents = async () =>
      (await account.get('/events', { types: 'recipient.opted_out' })).body.events
    await expect.poll(readEvents).toHaveLength(3)
    expect((await other.post('/import-opt-ins', { numbers })).body).toMatchObject({ changed: 0 })
    const ended = await account.get('/import-opt-ins', { numbers: '15552084412, 551187654321,' })
    expect(ended.body).toEqual({ ok: true, numbers: 2, changed: 2 })
    expect((await account.get('/opt-outs')).body.opt_outs).toMatchObject([{ number: '15552084411' }])
    const audited = await gateway.db.$client`
      SELECT operation, detail FROM audit_log WHERE account_id = ${account.userId} AND operation LIKE 'import-%'`
    expect(audited).toEqual([
      { operation: 'import-opt-outs', detail: { count: 2 } },
      { operation: 'import-opt-ins', detail: { count: 2 } },
    ])
  })

  test('names its source for its own account alone', async () => {
    const [account, other] = [await gateway.createAccount(), await gateway.createAccount()]
    await other.post('/opt-out', { number: '15552084413' })
    await account.post('/import-opt-outs', { numbers: '15552084413', source: 'ours' })
    expect((await other.get('/opt-outs')).body.opt_outs).toEqual([
      { number: '15552084413', created_at: expect.any(String) },
    ])
  })

  test('takes 1,000 numbers, and stores none if one of them is wrong', async () => {
    const account = await gateway.createAccount()
    const many = Array.from({ length: 1000 }, (_, n) => `4915200${String(n).padStart(6, '0')}`)
    for (const wrong of [[...many, '4915300000000'], many.with(500, 'phone')]) {
      expect(await account.post('/import-opt-outs', { numbers: wrong })).toMatchObject({ status: 400 })
    }
    expect((await account.post('/import-opt-outs', { numbers: many.with(500, 'phone') })).body.error).toBe(
      'numbers has phone at place 501, which is not a phone number: 7 to 15 digits with country prefix',
    )
    expect((await account.get('/opt-outs')).body.opt_outs).toEqual([])
    expect((await account.post('/import-opt-outs', { numbers: many })).body).toMatchObject({ changed: 1000 })
  })
})
