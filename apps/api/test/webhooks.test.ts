import { randomBytes } from 'node:crypto'
import { recordMasterKey } from '@wagate/db/queries/credentials/master-keys'
import { makeBoxKey } from '@wagate/shared/sealed-box'
import type { Client } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
  // As a worker does when it starts.
  await recordMasterKey(gateway.db, '0badcafe', makeBoxKey(randomBytes(32)).publicKey)
})
afterAll(() => gateway.close())

const url = 'https://shop.example.com/whatsapp'

async function createWebhook(account: Client, fields: Record<string, unknown> = {}) {
  const { status, body } = await account.post('/set-webhook', { url, ...fields })
  expect(status).toBe(200)
  return { webhook_id: Number(body.webhook_id), secret: body.secret, body }
}

const listed = async (account: Client) => (await account.get('/webhooks')).body.webhooks as object[]

test('a webhook is created with a secret, listed without it, changed and deleted', async () => {
  const { account, deviceId } = await createSender(gateway)
  const { webhook_id, secret, body } = await createWebhook(account, {
    types: 'message.received',
    device_ids: deviceId,
  })
  expect(secret).toMatch(/^whsec_/)
  const { ok: _, secret: __, ...shown } = body
  expect(shown).toMatchObject({ url, types: ['message.received'], device_ids: [deviceId], state: 'active' })
  expect(await listed(account)).toEqual([{ ...shown, lag_seconds: null }])
  const changed = await account.post('/set-webhook', {
    webhook_id,
    name: 'Shop',
    types: 'all',
    events_max: 20,
  })
  expect(changed.body).toMatchObject({ webhook_id, url, name: 'Shop', types: null, device_ids: [deviceId] })
  expect(changed.body).not.toHaveProperty('secret')
  expect((await account.post('/delete-webhook', { webhook_id })).body).toMatchObject({ deleted: true })
  expect(await listed(account)).toEqual([])
})

test('a disabled webhook is enabled by the next change', async () => {
  const { account } = await createSender(gateway)
  const { webhook_id, body } = await createWebhook(account, { enabled: false })
  expect(body).toMatchObject({ state: 'disabled', disabled_reason: 'by_caller' })
  expect(await account.post('/test-webhook', { webhook_id })).toMatchObject({
    status: 409,
    body: { code: 'webhook_disabled' },
  })
  expect((await account.post('/set-webhook', { webhook_id })).body).toMatchObject({ state: 'active' })
})

test('a replay creates no second webhook and does not repeat the secret', async () => {
  const { account } = await createSender(gateway)
  const first = await createWebhook(account, { idempotency_key: 'one' })
  const again = await account.post('/set-webhook', { url, idempotency_key: 'one' })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.body).toMatchObject({ webhook_id: first.webhook_id, warnings: [expect.any(String)] })
  expect(again.body).not.toHaveProperty('secret')
  expect(await listed(account)).toHaveLength(1)
})

test('no secret is stored as text', async () => {
  const { account } = await createSender(gateway)
  const { webhook_id, secret } = await createWebhook(account)
  const { body } = await account.post('/rotate-webhook-secret', { webhook_id })
  const rows = await gateway.db.$client<{ sealed: Buffer; isOver: boolean }[]>`
    SELECT sealed, valid_until IS NOT NULL AS "isOver" FROM webhook_secrets
    WHERE webhook_id = ${webhook_id} ORDER BY id`
  expect(rows.map(({ isOver }) => isOver)).toEqual([true, false])
  for (const { sealed } of rows) {
    expect(sealed.toString()).not.toContain(String(secret))
    expect(sealed.toString()).not.toContain(String(body.secret))
  }
})

test('an account has a limited number of webhooks, also with concurrent requests', async () => {
  const { account } = await createSender(gateway)
  const answers = await Promise.all(Array.from({ length: 24 }, () => account.post('/set-webhook', { url })))
  const codes = answers.filter(({ status }) => status !== 200).map(({ body }) => body.code)
  expect(codes).toEqual(Array(4).fill('webhook_limit_reached'))
  expect(await listed(account)).toHaveLength(20)
}, 60_000)

test('events are replayed by ID, by time and by failure', async () => {
  const { account, deviceId } = await createSender(gateway)
  const { webhook_id } = await createWebhook(account, { types: 'message.sent' })
  await gateway.db.$client`
    INSERT INTO events (account_id, device_id, type)
    SELECT ${account.userId}, ${deviceId}, type FROM unnest(ARRAY[2, 2, 3]) AS type`
  const replay = async (fields: object) =>
    (await account.post('/replay-webhook', { webhook_id, ...fields })).body
  const from = new Date(Date.now() - 60_000).toISOString()
  expect(await replay({ from })).toMatchObject({ replayed: 2 })
  expect(await replay({ from, to: from })).toMatchObject({ replayed: 0 })
  expect(await replay({ event_id: `evt_${'0'.repeat(40)}` })).toMatchObject({ replayed: 1 })
  await gateway.db
    .$client`UPDATE webhook_deliveries SET next_attempt_at = NULL WHERE webhook_id = ${webhook_id}`
  expect(await replay({ failed: true })).toMatchObject({ replayed: 3 })
  expect(await replay({})).toMatchObject({ code: 'missing_parameter' })
})

describe('replay-webhook', () => {
  const long = { from: new Date(0).toISOString() }
  const replays = async (account: Client, fields: object, times: number) => {
    const { webhook_id } = await createWebhook(account)
    const replay = () => account.post('/replay-webhook', { webhook_id, ...fields })
    return Promise.all(Array.from({ length: times }, replay))
  }
  const limitsOf = (answers: { body: Record<string, unknown> }[]) => [
    ...new Set(answers.flatMap(({ body }) => body.limit ?? [])),
  ]

  test('has a limit of its own for times, and one for single events', async () => {
    const { account } = await createSender(gateway)
    const ofTimes = await replays(account, long, 7)
    expect(limitsOf(ofTimes)).toEqual(['replay-webhook'])
    expect(ofTimes.filter(({ status }) => status === 200)).toHaveLength(5)
    const ofEvents = await replays(account, { event_id: `evt_${'0'.repeat(40)}` }, 30)
    expect(limitsOf(ofEvents)).toEqual(['replay-event'])
    expect(ofEvents.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(20)
  })

  test('is refused while too many requests wait', async () => {
    const { account } = await createSender(gateway)
    const { webhook_id } = await createWebhook(account)
    // In parts, because a busy machine needs seconds for all.
    for (let from = 0; from <= 100_000; from += 10_000) {
      await gateway.db.$client`
        INSERT INTO webhook_deliveries (webhook_id, event_ids, next_attempt_at)
        SELECT ${webhook_id}::int, ARRAY['evt_' || n], now() FROM generate_series(${from}::int, ${from + 9999}::int) AS n`
    }
    const refused = await account.post('/replay-webhook', { webhook_id, ...long })
    expect(refused).toMatchObject({ status: 429, body: { code: 'queue_full' } })
    expect(refused.headers.get('retry-after')).toBe('60')
  }, 60_000)
})

test('test-webhook has a limit of its own', async () => {
  const { account } = await createSender(gateway)
  const { webhook_id } = await createWebhook(account, { enabled: false })
  const test = () => account.post('/test-webhook', { webhook_id })
  const answers = await Promise.all(Array.from({ length: 25 }, test))
  expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(['webhook_disabled', 'rate_limited']))
  expect(answers.find(({ status }) => status === 429)?.body).toMatchObject({ limit: 'test-webhook' })
})

test('a secret is not replaced again while its former one still signs', async () => {
  const { account } = await createSender(gateway)
  const { webhook_id } = await createWebhook(account)
  const rotate = async (fields = {}) =>
    (await account.post('/rotate-webhook-secret', { webhook_id, ...fields })).body
  expect(await rotate()).toMatchObject({ ok: true })
  expect(await rotate()).toMatchObject({ ok: false, code: 'former_secret_valid' })
  expect(await rotate({ overlap_hours: 0 })).toMatchObject({ ok: true })
})

test('webhooks of another account look like ones that do not exist', async () => {
  const [{ account: owner }, { account: stranger }] = await Promise.all([
    createSender(gateway),
    createSender(gateway),
  ])
  const { webhook_id } = await createWebhook(owner)
  const { body: before } = await owner.get('/webhooks')
  const calls = ['set-webhook', 'delete-webhook', 'rotate-webhook-secret', 'test-webhook', 'replay-webhook']
  for (const name of calls) {
    const answer = await stranger.post(`/${name}`, {
      webhook_id,
      ...(name === 'replay-webhook' && { failed: true }),
    })
    expect(answer, name).toMatchObject({ status: 404, body: { code: 'webhook_not_found' } })
  }
  const log = await stranger.get('/webhook-deliveries', { webhook_id: String(webhook_id) })
  expect(log).toMatchObject({ status: 404, body: { code: 'webhook_not_found' } })
  expect(await listed(stranger)).toEqual([])
  expect((await owner.get('/webhooks')).body).toEqual(before)
})

describe('set-webhook refuses', () => {
  test.each([
    ['no URL', {}, 'missing_parameter'],
    ['a URL that is none', { url: 'shop' }, 'invalid_parameter'],
    ['another scheme', { url: 'ftp://shop.example.com' }, 'invalid_parameter'],
    ['no encryption', { url: 'http://shop.example.com' }, 'invalid_parameter'],
    ['a password', { url: 'https://me:secret@shop.example.com' }, 'invalid_parameter'],
    ['a private address', { url: 'https://10.0.0.1/' }, 'invalid_parameter'],
    ['this machine', { url: 'https://localhost:3000/' }, 'invalid_parameter'],
    ['an unknown type', { url, types: 'message.gone' }, 'invalid_parameter'],
    ['a device that the account has not', { url, device_ids: '2147483646' }, 'device_not_found'],
  ])('%s', async (_, fields, code) => {
    const { account } = await createSender(gateway)
    expect((await account.post('/set-webhook', fields)).body).toMatchObject({ ok: false, code })
    expect(await listed(account)).toEqual([])
  })
})
