import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type GatewayWithReplica, startGatewayWithReplica } from './gateway.ts'
import { countStatuses, guessKey, invalidKey, lowLimits, newClient, rateLimited } from './low-limits.ts'

let gateway: GatewayWithReplica
beforeAll(async () => {
  gateway = await startGatewayWithReplica(lowLimits)
})
afterAll(() => gateway.close())

const guess = (headers: Record<string, string>, url = gateway.url, key?: string) =>
  guessKey(headers, url, key)

describe('invalid keys', () => {
  test('are limited for each address, in all processes together', async () => {
    const client = newClient()
    expect(await guess(client)).toMatchObject(invalidKey)
    expect(await guess(client, gateway.replica.url, 'no key at all')).toMatchObject(invalidKey)
    expect(await guess(client, gateway.replica.url)).toMatchObject(invalidKey)
    expect(await guess(client)).toMatchObject(invalidKey)
    for (const url of [gateway.url, gateway.replica.url]) {
      const answer = await guess(client, url)
      expect(answer).toMatchObject(rateLimited)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(answer.headers.get('ratelimit')).toMatch(/^"failed-keys";r=0;t=\d+$/)
      expect(answer.headers.get('ratelimit-policy')).toBe('"failed-keys";q=4;w=60')
    }
    expect(await guess(newClient())).toMatchObject(invalidKey)
  })

  test('are limited in the same way when they arrive at the same time', async () => {
    const client = newClient()
    const answers = await Promise.all(Array.from({ length: 60 }, () => guess(client)))
    expect(countStatuses(answers)).toEqual({ 401: 4, 429: 56 })
  })

  test('do not block valid keys from the same address, cached or not', async () => {
    const [known, fresh] = [await gateway.createAccount(), await gateway.createAccount()]
    const client = newClient()
    expect(await guess(client, gateway.url, known.apiKey)).toMatchObject({ status: 200 })
    const guesses = await Promise.all(Array.from({ length: 10 }, () => guess(client)))
    expect(countStatuses(guesses)).toEqual({ 401: 4, 429: 6 })
    expect(await guess(client, gateway.url, fresh.apiKey)).toMatchObject({ status: 200 })
    // This process has not seen either key.
    for (const { apiKey } of [known, fresh]) {
      expect(await guess(client, gateway.replica.url, apiKey)).toMatchObject({ status: 200 })
    }
    expect(await guess(client)).toMatchObject(rateLimited)
  })

  test('are looked up in batches, so that a flood of them leaves connections to others', async () => {
    const account = await gateway.createAccount()
    await account.get('/user-info')
    const held = await gateway.db.$client.begin(async (sql) => {
      await sql`SET LOCAL idle_in_transaction_session_timeout = 0`
      await sql`LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE`
      const guesses = Array.from({ length: 40 }, () => guess(newClient()))
      const waiting = () => sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      await vi.waitFor(async () => expect((await waiting()).length).toBeGreaterThan(0), eventually)
      // Its key is cached, but user-info needs a connection.
      expect((await account.get('/user-info')).status).toBe(200)
      return { waiting: (await waiting()).length, guesses }
    })
    expect(held.waiting).toBe(1)
    expect(countStatuses(await Promise.all(held.guesses))).toEqual({ 401: 40 })
  })

  test('count even if they were valid before', async () => {
    const account = await gateway.createAccount()
    const client = newClient()
    expect(await guess(client, gateway.url, account.apiKey)).toMatchObject({ status: 200 })
    await gateway.db.$client`UPDATE api_keys SET revoked_at = now() WHERE account_id = ${account.userId}`
    await gateway.admin.post('/update-user', { user_id: account.userId, devices_allowed: 3 })
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => guess(client, gateway.url, account.apiKey)),
    )
    expect(countStatuses(answers)).toEqual({ 401: 4, 429: 6 })
  })

  test('are not counted for valid keys, missing keys and other errors', async () => {
    const account = await gateway.createAccount()
    const client = newClient()
    for (let n = 0; n < 5; n++) {
      expect((await account.get('/user-info', {}, client)).status).toBe(200)
      expect((await gateway.anonymous.get('/user-info', {}, client)).status).toBe(401)
      expect((await account.get('/info-device', {}, client)).status).toBe(400)
    }
    expect(await guess(client)).toMatchObject(invalidKey)
  })

  test('are counted by the address that the proxy added, not the one that the client sent', async () => {
    const { 'x-forwarded-for': address } = newClient()
    const answers = []
    for (let n = 0; n < 6; n++) {
      answers.push(await guess({ 'x-forwarded-for': `203.0.113.${n}, ${address}` }))
    }
    expect(countStatuses(answers)).toEqual({ 401: 4, 429: 2 })
  })

  test('are counted together for one IPv6 network', async () => {
    const answers = []
    for (let n = 1; n <= 6; n++) answers.push(await guess({ 'x-forwarded-for': `2001:db8:0:77::${n}` }))
    expect(countStatuses(answers)).toEqual({ 401: 4, 429: 2 })
    expect(await guess({ 'x-forwarded-for': '2001:db8:0:78::1' })).toMatchObject(invalidKey)
  })
})
