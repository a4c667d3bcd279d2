import { timeAwake } from '@wagate/test-kit/awake-time'
import { startOwnRedis } from '@wagate/test-kit/servers/own-redis'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeReadinessCheck } from '../src/health/readiness.ts'
import {
  type CuttableGateway,
  createSender,
  ownShards,
  startCuttableGateway,
  startGateway,
} from './gateway.ts'

let gateway: CuttableGateway
beforeAll(async () => {
  gateway = await startCuttableGateway()
})
afterAll(() => gateway.close())
afterEach(async () => {
  gateway.postgres.cut()
  gateway.redis.cut()
  gateway.postgres.heal()
  gateway.redis.heal()
  await vi.waitFor(async () => expect((await gateway.admin.get('/user-info')).status).toBe(200), {
    timeout: 10_000,
  })
  await vi.waitFor(async () => expect((await ready()).body.checks).toMatchObject({ redis: 'ok' }), {
    timeout: 10_000,
  })
})

const number = '4915199999999'
const ready = () => gateway.anonymous.get('/health/ready')
const unavailable = { status: 503, body: { code: 'unavailable' } }

describe('health', () => {
  test('is ready without a live owner of a shard and reports that messages wait', async () => {
    expect(await ready()).toMatchObject({
      status: 200,
      body: {
        ok: true,
        status: 'degraded',
        degraded: [expect.stringContaining('256 shards have no live worker')],
        checks: { postgres: 'ok', installation: 'ok', redis: 'ok', shards: '256 without a live worker' },
      },
    })
    const workerId = await ownShards(gateway)
    expect(await ready()).toMatchObject({
      status: 200,
      body: { ok: true, status: 'ready', degraded: [], checks: { redis: 'ok', shards: 'ok' } },
    })
    await gateway.db.$client`UPDATE workers SET lease_until = now() WHERE id = ${workerId}`
    expect((await ready()).body.checks).toMatchObject({ shards: '256 without a live worker' })
    await gateway.db
      .$client`UPDATE workers SET lease_until = now() + interval '1 hour' WHERE id = ${workerId}`
    await gateway.db.$client`UPDATE shard_leases SET owner = NULL WHERE shard = 17`
    expect((await ready()).body.checks).toMatchObject({ shards: '1 without a live worker' })
    await gateway.db.$client`UPDATE shard_leases SET owner = ${workerId} WHERE shard = 17`
    expect((await ready()).body).toMatchObject({ status: 'ready', degraded: [] })
  })

  test('is checked once for concurrent callers', async () => {
    let checks = 0
    const checkRedis = async () => {
      checks += 1
      return 'ok'
    }
    const check = makeReadinessCheck(
      { db: gateway.db, events: { checkRedis } },
      { shards: 256, network: 'simulator' },
    )
    const answers = await Promise.all(Array.from({ length: 100 }, check))
    expect(checks).toBe(1)
    for (const { isReady } of answers) expect(isReady).toBe(true)
    await check()
    expect(checks).toBe(2)
  })

  test('is ready without Redis, but not without Postgres', async () => {
    gateway.redis.cut()
    expect(await ready()).toMatchObject({
      status: 200,
      body: { status: 'degraded', checks: { redis: 'does not answer' } },
    })
    gateway.postgres.cut()
    const { result, awakeMs } = await timeAwake(ready)
    expect(result).toMatchObject({
      status: 503,
      body: { checks: { postgres: 'does not answer', redis: 'does not answer', shards: 'unknown' } },
    })
    expect(result.headers.get('retry-after')).toBe('1')
    expect(awakeMs).toBeLessThan(5000)
    expect(await gateway.anonymous.get('/health/live')).toMatchObject({ status: 200, body: { ok: true } })
  })

  test('is not ready on a database of an earlier version or with other settings, and tells what to do', async () => {
    const sql = gateway.db.$client
    const [newest] = await sql<{ id: number; at: string }[]>`
      SELECT id, created_at AS at FROM drizzle.__drizzle_migrations ORDER BY created_at DESC LIMIT 1`
    const { id = 0, at = '' } = newest ?? {}
    const installation = async () => {
      const { status, body } = await ready()
      return [status, (body.checks as Record<string, string>).installation]
    }
    await sql`UPDATE drizzle.__drizzle_migrations SET created_at = 1 WHERE id = ${id}`
    const earlier = await installation()
    await sql`UPDATE drizzle.__drizzle_migrations SET created_at = ${at} WHERE id = ${id}`
    await sql`UPDATE installation SET shards = 8`
    const resharded = await installation()
    await sql`UPDATE installation SET shards = 256`
    expect(earlier).toEqual([503, expect.stringContaining('Run the migration of this version')])
    expect(resharded).toEqual([503, expect.stringContaining('Set SHARDS to 8')])
    expect(await installation()).toEqual([200, 'ok'])
  })

  test('accepts GET and HEAD', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      expect(await gateway.anonymous.post(path)).toMatchObject({ status: 405 })
      const options = await gateway.anonymous.request(path, { method: 'OPTIONS' })
      expect(options.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
      expect((await gateway.anonymous.request(path, { method: 'HEAD' })).body).toEqual({})
    }
  })
})

describe('Redis', () => {
  test('that starts to evict keys is reported as degraded, with the reason', async () => {
    const redis = await startOwnRedis()
    const beside = await startGateway({ REDIS_URL: redis.url })
    try {
      await redis.set('maxmemory-policy', 'allkeys-lru')
      expect(await beside.anonymous.get('/health/ready')).toMatchObject({
        status: 200,
        body: {
          status: 'degraded',
          checks: { redis: expect.stringContaining('maxmemory-policy allkeys-lru') },
        },
      })
      await redis.set('maxmemory-policy', 'noeviction')
      expect((await beside.anonymous.get('/health/ready')).body.checks).toMatchObject({ redis: 'ok' })
    } finally {
      await beside.close()
      await redis.close()
    }
  })

  test('that is down delays no send, and everything else works', async () => {
    const { account, sender } = await createSender(gateway)
    gateway.redis.cut()
    for (let n = 0; n < 20; n++) {
      const { result, awakeMs } = await timeAwake(() =>
        account.post('/send-message', { sender, number, message: `${n}`, wait: n === 19 ? 1 : 0 }),
      )
      expect(result).toMatchObject({ status: 200, body: { status: 'queued' } })
      expect(awakeMs).toBeLessThan(n === 19 ? 3000 : 1000)
    }
    expect((await account.get('/messages')).body.messages).toHaveLength(20)
    expect(await account.post('/logout-device', { sender })).toMatchObject({ status: 200 })
    expect(await account.post('/create-device', { sender: '4915112345678' })).toMatchObject({ status: 200 })
  })

  test('that is frozen delays sends by less than a second', async () => {
    const { account, sender } = await createSender(gateway)
    gateway.redis.freeze()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        timeAwake(() => account.post('/send-message', { sender, number, message: `${n}` })),
      ),
    )
    for (const { result, awakeMs } of answers) {
      expect(result.status).toBe(200)
      expect(awakeMs).toBeLessThan(1500)
    }
    const { awakeMs } = await timeAwake(() => account.post('/logout-device', { sender }))
    expect(awakeMs).toBeLessThan(5000)
  })
})

test('a full disk returns 503 storage_full with Retry-After, and reads still work', async () => {
  const { account, sender } = await createSender(gateway)
  const sql = gateway.db.$client
  await sql`CREATE FUNCTION full_disk() RETURNS trigger AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$ LANGUAGE plpgsql`
  await sql`CREATE TRIGGER full_disk BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION full_disk()`
  try {
    const answer = await account.post('/send-message', { sender, number, message: 'x' })
    expect(answer).toMatchObject({ status: 503, body: { code: 'storage_full' } })
    expect(answer.headers.get('retry-after')).toBe('60')
    expect(await account.get('/messages')).toMatchObject({ status: 200, body: { messages: [] } })
  } finally {
    await sql`DROP TRIGGER full_disk ON messages`
  }
  expect((await account.post('/send-message', { sender, number, message: 'x' })).status).toBe(200)
})

describe('Postgres', () => {
  test('a change of an account that was refused with 503 is not made later', async () => {
    const [{ userId }, { userId: other }] = [await gateway.createAccount(), await gateway.createAccount()]
    const change = (user_id: number, devices_allowed: number) =>
      gateway.admin.post('/update-user', { user_id, devices_allowed })
    expect((await change(userId, 7)).status).toBe(200)
    gateway.postgres.freeze()
    // More than there are connections, so that most wait for one.
    const refused = await Promise.all(Array.from({ length: 40 }, (_, n) => change(userId, 100 + n)))
    for (const answer of refused) expect(answer).toMatchObject(unavailable)
    gateway.postgres.cut()
    gateway.postgres.heal()
    await vi.waitFor(async () => expect((await change(other, 1)).status).toBe(200), { timeout: 10_000 })
    // These wait behind all that was refused.
    await Promise.all(Array.from({ length: 20 }, (_, n) => change(other, n)))
    const [account] = await gateway.db.$client`
      SELECT devices_allowed AS "devicesAllowed" FROM accounts WHERE id = ${userId}`
    expect(account).toEqual({ devicesAllowed: 7 })
  })

  test('a message refused with 503 is not sent later, and a retry with its key is sent once', async () => {
    const { account, sender } = await createSender(gateway)
    const send = (message: string) =>
      account.post('/send-message', { sender, number, message, idempotency_key: message })
    expect((await send('before')).status).toBe(200)
    gateway.postgres.freeze()
    const refused = await Promise.all(['a', 'b', 'c'].map(send))
    for (const answer of refused) expect(answer).toMatchObject(unavailable)
    const late = await Promise.all(['d', 'e'].map(send))
    for (const answer of late) expect(answer).toMatchObject(unavailable)
    gateway.postgres.cut()
    gateway.postgres.heal()
    await vi.waitFor(async () => expect((await send('after')).status).toBe(200), { timeout: 10_000 })
    for (const message of ['a', 'b', 'c', 'd', 'e']) expect((await send(message)).status).toBe(200)
    const { body } = await account.get('/messages')
    const texts = (body.messages as { message: string }[]).map(({ message }) => message)
    expect(texts.sort()).toEqual(['a', 'after', 'b', 'before', 'c', 'd', 'e'])
  })
})
