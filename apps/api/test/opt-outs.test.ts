import { afterAll, beforeAll, expect, test } from 'vitest'
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
