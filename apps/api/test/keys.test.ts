import { makeClient } from '@wagate/test-kit/http-client'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { atOnce } from './at-once.ts'
import { type GatewayWithReplica, startGatewayWithReplica } from './gateway.ts'
import { listKeys } from './list-keys.ts'

let gateway: GatewayWithReplica
beforeAll(async () => {
  gateway = await startGatewayWithReplica()
})
afterAll(() => gateway.close())

const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const invalid = { status: 401, body: { code: 'invalid_api_key' } }

describe('create-key', () => {
  test('returns an additional working key and lists it without its secret', async () => {
    const account = await gateway.createAccount()
    const { status, body } = await account.post('/create-key', { name: 'till 2' })
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ok: true,
        key_id: expect.any(Number),
        api_key: expect.stringMatching(/^wag_[0-9A-Za-z]{49}$/),
        name: 'till 2',
        last_four: String(body.api_key).slice(-4),
        created_at: moment,
        expires_at: null,
      },
    })
    const second = makeClient(gateway.url, String(body.api_key))
    expect((await second.get('/user-info')).body).toMatchObject({ id: account.userId })

    await vi.waitFor(
      async () =>
        expect(await listKeys(account)).toEqual([
          {
            key_id: expect.any(Number),
            name: 'default',
            last_four: account.apiKey.slice(-4),
            created_at: moment,
            created_by: null,
            expires_at: null,
            last_used_at: moment,
            revoked_at: null,
          },
          expect.objectContaining({ key_id: body.key_id, last_used_at: moment }),
        ]),
      eventually,
    )
    const shown = JSON.stringify((await account.get('/api/keys')).body)
    for (const key of [account.apiKey, String(body.api_key)]) expect(shown).not.toContain(key.slice(4, 40))
  })

  test('accepts an expiry, after which the key is refused as expired', async () => {
    const account = await gateway.createAccount()
    const soon = new Date(Date.now() + 1500).toISOString()
    const { body } = await account.get('/create-key', { name: 'short', expiry: soon })
    expect(body).toMatchObject({ ok: true, expires_at: soon })
    const short = makeClient(gateway.url, String(body.api_key))
    expect((await short.get('/user-info')).status).toBe(200)
    await vi.waitFor(
      async () =>
        expect(await short.get('/user-info')).toMatchObject({
          status: 401,
          body: { code: 'expired_api_key' },
        }),
      { timeout: 5000, interval: 100 },
    )
  })

  test.each([
    { expiry: '2020-01-01T00:00:00Z' },
    { expiry: 'never' },
    { name: 5 },
    { name: 'x'.repeat(191) },
  ])('refuses %j', async (wrong) => {
    const account = await gateway.createAccount()
    expect(await account.post('/create-key', wrong)).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: [{ parameter: Object.keys(wrong)[0] }] },
    })
  })

  test('creates no key that outlives its creator, and names the creator', async () => {
    const account = await gateway.createAccount()
    const soon = new Date(Date.now() + 3_600_000)
    const { body: short } = await account.post('/create-key', { expiry: soon.toISOString() })
    const contractor = makeClient(gateway.url, String(short.api_key))
    const later = new Date(soon.getTime() + 1).toISOString()
    expect(await contractor.post('/create-key', { expiry: later })).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: [{ parameter: 'expiry' }] },
    })
    const { body: own } = await contractor.post('/create-key')
    expect(own.expires_at).toBe(soon.toISOString())
    const sooner = new Date(soon.getTime() - 60_000).toISOString()
    expect((await contractor.post('/create-key', { expiry: sooner })).body.expires_at).toBe(sooner)
    const [first, second, third] = await listKeys(account)
    expect([first, second, third].map((key) => key?.created_by)).toEqual([
      null,
      first?.key_id,
      second?.key_id,
    ])
  })

  test('an expiring key of an ADMIN may create any key', async () => {
    const admin = await gateway.createAccount({ role: 'ADMIN' })
    const expiry = new Date(Date.now() + 3_600_000).toISOString()
    const { body } = await admin.post('/create-key', { expiry })
    const made = await makeClient(gateway.url, String(body.api_key)).post('/create-key')
    expect(made).toMatchObject({ status: 200, body: { expires_at: null } })
  })

  test('an account has up to 50 usable keys, also with concurrent requests', async () => {
    const account = await gateway.createAccount()
    const answers = await Promise.all(Array.from({ length: 52 }, () => account.post('/create-key')))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused).toHaveLength(3)
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'key_limit_reached' } })
    }
    const [, one] = await listKeys(account)
    await account.post('/revoke-key', { key_id: one?.key_id })
    expect((await account.post('/create-key')).status).toBe(200)
  })
})

describe('revoke-key', () => {
  test('revokes a key at once in every process', async () => {
    const account = await gateway.createAccount()
    const { body } = await account.post('/create-key', { name: 'lost' })
    const clients = [gateway, gateway.replica].map(({ url }) => makeClient(url, String(body.api_key)))
    for (const client of clients) expect((await client.get('/user-info')).status).toBe(200)

    const revoked = await account.get('/revoke-key', { key_id: String(body.key_id) })
    expect(revoked.body).toMatchObject({ ok: true, key_id: body.key_id, revoked_at: moment })
    expect(await clients[0]?.get('/user-info')).toMatchObject(invalid)
    // Well before the cache of the other process expires.
    await vi.waitFor(async () => expect(await clients[1]?.get('/user-info')).toMatchObject(invalid), {
      timeout: 2500,
      interval: 20,
    })
    expect(await listKeys(account)).toMatchObject([{ revoked_at: null }, { revoked_at: moment }])
  })

  test('takes effect in other processes after the cache lifetime when Redis is down', async () => {
    const account = await gateway.createAccount()
    const { body } = await account.post('/create-key')
    const elsewhere = makeClient(gateway.replica.url, String(body.api_key))
    gateway.redis.cut()
    try {
      expect((await elsewhere.get('/user-info')).status).toBe(200)
      expect((await account.post('/revoke-key', { key_id: body.key_id })).status).toBe(200)
      expect((await elsewhere.get('/user-info')).status).toBe(200)
      await vi.waitFor(async () => expect(await elsewhere.get('/user-info')).toMatchObject(invalid), {
        timeout: 6000,
        interval: 100,
      })
    } finally {
      gateway.redis.heal()
    }
  })

  test('changes nothing when repeated', async () => {
    const account = await gateway.createAccount()
    const { body } = await account.post('/create-key')
    const first = await account.post('/revoke-key', { key_id: body.key_id })
    const second = await account.post('/revoke-key', { key_id: body.key_id })
    expect(second).toMatchObject({ status: 200, body: first.body })
  })

  test('treats the key of another account as unknown and keeps it', async () => {
    const [one, other] = [await gateway.createAccount(), await gateway.createAccount()]
    const [key] = await listKeys(other)
    const foreign = await one.post('/revoke-key', { key_id: key?.key_id })
    const unknown = await one.post('/revoke-key', { key_id: 2 ** 31 - 1 })
    expect(foreign).toMatchObject({ status: 404, body: { code: 'key_not_found' } })
    expect({ ...foreign.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' })
    expect((await other.get('/user-info')).status).toBe(200)
    expect(await listKeys(one)).toHaveLength(1)
  })

  test('refuses to revoke the last usable key, also when the last two are revoked concurrently', async () => {
    const account = await gateway.createAccount()
    await account.post('/create-key')
    const both = (await listKeys(account)).map(({ key_id }) => key_id)
    const hold = `SELECT FROM accounts WHERE id = ${account.userId}`
    const answers = await atOnce(gateway, { hold, waiting: 2 }, () =>
      Promise.all(both.map((key_id) => account.post('/revoke-key', { key_id }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('last_key')
  })

  test('does not count an expired key as usable', async () => {
    const account = await gateway.createAccount()
    const { body } = await account.post('/create-key')
    await gateway.db.$client`
      UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = ${Number(body.key_id)}`
    const [own] = await listKeys(account)
    expect(await account.post('/revoke-key', { key_id: own?.key_id })).toMatchObject({
      status: 409,
      body: { code: 'last_key' },
    })
  })
})

test('the last use of a key is written at most once a minute, by all processes together', async () => {
  const account = await gateway.createAccount()
  await account.get('/user-info')
  const lastUse = async () => {
    const [row] = await gateway.db.$client<{ at: string }[]>`
      SELECT last_used_at::text AS at FROM api_keys WHERE account_id = ${account.userId}`
    return row?.at
  }
  const first = await vi.waitFor(async () => {
    const at = await lastUse()
    expect(at).toBeTruthy()
    return at
  }, eventually)
  const elsewhere = makeClient(gateway.replica.url, account.apiKey)
  for (let n = 0; n < 5; n++) await elsewhere.get('/user-info')
  // A write by the other process would have happened before this one.
  const other = await gateway.createAccount()
  await makeClient(gateway.replica.url, other.apiKey).get('/user-info')
  await vi.waitFor(async () => {
    const [row] = await gateway.db.$client`
      SELECT 1 FROM api_keys WHERE account_id = ${other.userId} AND last_used_at IS NOT NULL`
    expect(row).toBeDefined()
  }, eventually)
  expect(await lastUse()).toBe(first)
})
