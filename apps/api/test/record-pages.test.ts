import type { Client } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, randomPhone, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

type List = { path: '/devices' | '/keys'; records: 'devices' | 'keys'; id: 'device_id' | 'key_id' }
const lists: List[] = [
  { path: '/devices', records: 'devices', id: 'device_id' },
  { path: '/keys', records: 'keys', id: 'key_id' },
]

async function read({ path, records, id }: List, client: Client, query: Record<string, string> = {}) {
  const { status, body } = await client.get(path, query)
  expect(status).toBe(200)
  const ids = (body[records] as Record<string, number>[]).map((record) => record[id])
  return { ids, hasMore: body.has_more, next: body.next_after }
}

/** An account with five senders and six keys. */
async function createAccount() {
  const account = await gateway.createAccount({ devices_allowed: 5 })
  for (let count = 0; count < 5; count++) {
    expect((await account.post('/create-device', { sender: randomPhone() })).status).toBe(200)
    expect((await account.post('/create-key', { name: `key ${count}` })).status).toBe(200)
  }
  return account
}

test.each(lists)('the pages of $path have each record once, by id', async (list) => {
  const account = await createAccount()
  const all = await read(list, account)
  expect(all.ids).toEqual(all.ids.toSorted((one, other) => Number(one) - Number(other)))
  expect(all).toMatchObject({ hasMore: false, next: null })
  for (const limit of ['1', '2', '4', '6']) {
    let page = await read(list, account, { limit })
    const ids = page.ids
    while (page.hasMore) {
      expect(page.next).toBe(ids.at(-1))
      page = await read(list, account, { limit, after: String(page.next) })
      ids.push(...page.ids)
    }
    expect(page.next).toBeNull()
    expect(ids).toEqual(all.ids)
  }
})

test.each(lists)('the pages of $path have no record of another account', async (list) => {
  const [one, other] = [await createAccount(), await createAccount()]
  const [first, ...rest] = (await read(list, other)).ids
  expect((await read(list, one, { after: String(first) })).ids).toEqual([])
  expect((await read(list, other, { after: String(first) })).ids).toEqual(rest)
})

test('devices can be listed by their status', async () => {
  const { account, deviceId } = await createSender(gateway)
  await account.post('/create-device', { sender: randomPhone() })
  const [list] = lists as [List]
  expect((await read(list, account, { status: 'connected' })).ids).toEqual([deviceId])
  expect((await read(list, account, { status: 'disconnected' })).ids).toHaveLength(1)
  expect((await read(list, account, { status: 'scanning' })).ids).toEqual([])
})

test.each([{ limit: '0' }, { limit: '1001' }, { after: '0' }, { after: 'x' }, { status: 'lost' }] as Record<
  string,
  string
>[])('devices refuses %j', async (query) => {
  expect(await gateway.admin.get('/devices', query)).toMatchObject({
    status: 400,
    body: { code: 'invalid_parameter', details: [{ parameter: Object.keys(query)[0] }] },
  })
})
