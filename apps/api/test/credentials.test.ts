import { makeClient } from '@wagate/test-kit/http-client'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Operation } from '../src/calls/operation.ts'
import { hashApiKey, makeApiKey } from '../src/credentials/api-key.ts'
import { operations } from '../src/operations.ts'
import {
  type GatewayWithReplica,
  linkDevice,
  randomPhone,
  startGateway,
  startGatewayWithReplica,
} from './gateway.ts'

let gateway: GatewayWithReplica
beforeAll(async () => {
  gateway = await startGatewayWithReplica()
})
afterAll(() => gateway.close())

describe('the API key is accepted', () => {
  test('from the header, the query, the body, a form and as a bearer token', async () => {
    const { apiKey, userId } = await gateway.createAccount()
    const { anonymous } = gateway
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const answers = [
      await anonymous.get('/user-info', {}, { 'x-api-key': apiKey }),
      await anonymous.get('/user-info', {}, { authorization: `Bearer ${apiKey}` }),
      await anonymous.get('/user-info', {}, { authorization: `bearer  ${apiKey}` }),
      await anonymous.get('/user-info', { api_key: apiKey }),
      await anonymous.post('/user-info', {}, { 'x-api-key': apiKey }),
      await anonymous.post(`/user-info?api_key=${apiKey}`),
      await anonymous.post('/user-info', { api_key: apiKey }),
      await anonymous.post('/user-info', `api_key=${apiKey}`, form),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { id: userId } })
    // The key does not count as an unknown parameter.
    for (const { body } of answers) expect(body).not.toHaveProperty('warnings')
  })

  test('from several places if it is the same, ignoring empty ones', async () => {
    const { apiKey } = await gateway.createAccount()
    const path = `/user-info?api_key=${apiKey}&api_key=${apiKey}`
    const headers = { 'x-api-key': apiKey, authorization: `Bearer ${apiKey}` }
    expect(await gateway.anonymous.post(path, { api_key: apiKey }, headers)).toMatchObject({ status: 200 })
    const empty = await gateway.anonymous.post(
      '/user-info?api_key=',
      { api_key: '' },
      { 'x-api-key': apiKey },
    )
    expect(empty).toMatchObject({ status: 200 })
  })
})

test('the API key is not accepted from a cookie', async () => {
  const { apiKey } = await gateway.createAccount()
  const cookie = `api_key=${apiKey}; x-api-key=${apiKey}`
  expect(await gateway.anonymous.get('/user-info', {}, { cookie })).toMatchObject({
    status: 401,
    body: { code: 'missing_api_key' },
  })
})

test('two different keys are refused in any combination of places', async () => {
  const [one, other] = [await gateway.createAccount(), await gateway.createAccount()]
  const conflict = { status: 400, body: { code: 'conflicting_api_keys' } }
  expect(await one.get('/user-info', { api_key: other.apiKey })).toMatchObject(conflict)
  expect(await one.get('/user-info', {}, { authorization: `Bearer ${other.apiKey}` })).toMatchObject(conflict)
  expect(await one.post('/user-info', { api_key: other.apiKey })).toMatchObject(conflict)
  expect(await gateway.anonymous.get(`/user-info?api_key=${one.apiKey}&api_key=x`)).toMatchObject(conflict)
  const body = { api_key: other.apiKey }
  expect(await gateway.anonymous.post(`/user-info?api_key=${one.apiKey}`, body)).toMatchObject(conflict)
})

test('a request without a key returns 401 missing_api_key', async () => {
  const answers = [
    await gateway.anonymous.get('/user-info'),
    await gateway.anonymous.get('/user-info', { api_key: '' }),
    await gateway.anonymous.get('/user-info', {}, { authorization: 'Basic abc' }),
    await gateway.anonymous.post('/user-info', { api_key: null }),
    // The key is checked before the parameters.
    await gateway.anonymous.get('/send-message'),
  ]
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 401, body: { code: 'missing_api_key' } })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="wagate"')
  }
})

test('a key that is unknown, malformed or not text returns 401 invalid_api_key and is not echoed', async () => {
  for (const key of [makeApiKey(), 'wag_nonsense', `${makeApiKey().slice(0, -1)}~`]) {
    const answer = await gateway.anonymous.get('/user-info', { api_key: key })
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="wagate"')
    expect(JSON.stringify(answer.body)).not.toContain(key.slice(4))
  }
  for (const key of [1, true, {}, ['x']]) {
    expect(await gateway.anonymous.post('/user-info', { api_key: key })).toMatchObject({
      status: 401,
      body: { code: 'invalid_api_key' },
    })
  }
})

test('an expired key returns 401 expired_api_key', async () => {
  const expired = await gateway.createAccount()
  await gateway.db.$client`
    UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE hash = ${hashApiKey(expired.apiKey)}`
  const answer = await expired.get('/user-info')
  expect(answer).toMatchObject({ status: 401, body: { code: 'expired_api_key' } })
  expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="wagate"')
})

test('only the hash of a key is stored', async () => {
  const { apiKey } = await gateway.createAccount()
  const rows = await gateway.db.$client<{ stored: string }[]>`
    SELECT row_to_json(api_keys)::text AS stored FROM api_keys`
  expect(rows.length).toBeGreaterThan(0)
  for (const { stored } of rows) expect(stored).not.toContain(apiKey.slice(4, 40))
})

test('no two keys have the same hash', async () => {
  const { apiKey, userId } = await gateway.createAccount()
  await expect(gateway.db.$client`
    INSERT INTO api_keys (account_id, name, hash, last_four)
    VALUES (${userId}, 'twin', ${hashApiKey(apiKey)}, 'xxxx')`).rejects.toMatchObject({ code: '23505' })
})

test('the last use of a key is recorded', async () => {
  const account = await gateway.createAccount()
  await account.get('/user-info')
  await vi.waitFor(async () => {
    const [row] = await gateway.db.$client<{ isRecent: boolean }[]>`
      SELECT last_used_at > now() - interval '1 minute' AS "isRecent" FROM api_keys
      WHERE hash = ${hashApiKey(account.apiKey)}`
    expect(row?.isRecent).toBe(true)
  }, eventually)
})

describe('an expired account', () => {
  // envelope.test.ts lists these operations.
  const [changing, reading] = [true, false].map((changes) =>
    operations.filter(
      // sessions.test.ts tries what keeps an expired account safe.
      ({ isPublic, admitsExpired, ...operation }) =>
        operation.changes === changes && !isPublic && !admitsExpired,
    ),
  ) as [Operation[], Operation[]]

  test.each(changing)('cannot use $name, by any method', async ({ name, methods, example }) => {
    const account = await gateway.createAccount({ expiry: '2020-01-01T00:00:00Z', role: 'ADMIN' })
    for (const method of methods) {
      const given = example.given as Record<string, string>
      const answer = await account[method === 'GET' ? 'get' : 'post'](`/${name}`, given)
      expect(answer).toMatchObject({ status: 403, body: { code: 'account_expired' } })
    }
  })

  test.each(reading.filter(({ adminOnly, isStream, isPublic }) => !adminOnly && !isStream && !isPublic))(
    'can still read $name',
    async ({ name, example }) => {
      const account = await gateway.createAccount({ role: 'ADMIN' })
      const [sender, number] = [randomPhone(), randomPhone()]
      const { body } = await account.post('/create-device', { sender })
      await linkDevice(gateway, Number(body.device_id))
      const { message_id } = (await account.post('/send-message', { sender, number, message: 'x' })).body
      const [webhook] = await gateway.db.$client<{ id: number }[]>`
        INSERT INTO webhooks (account_id, url, name, epoch, tx, event_id, seconds)
        VALUES (${account.userId}, 'https://shop.example.com/', 'x', 0, '0', 0, 0) RETURNING id`
      await gateway.db.$client`
      UPDATE accounts SET expires_at = '2020-01-01T00:00:00Z' WHERE id = ${account.userId}`
      const own: Record<string, unknown> = { sender, message_id, webhook_id: webhook?.id }
      const given = Object.keys(example.given).flatMap((parameter) =>
        parameter in own ? [[parameter, String(own[parameter])]] : [],
      )
      const elsewhere = makeClient(gateway.replica.url, account.apiKey)
      const { status } = await elsewhere.get(`/${name}`, Object.fromEntries(given))
      // No passkey is asked for.
      expect(status).toBe(name === 'passkey-challenge' ? 409 : 200)
    },
  )
})

test('keys in the URL can be disabled', async () => {
  const strict = await startGateway({ ALLOW_QUERY_API_KEY: 'false' })
  try {
    const { apiKey } = await strict.createAccount()
    expect(await strict.anonymous.get('/user-info', { api_key: apiKey })).toMatchObject({
      status: 401,
      body: { code: 'invalid_api_key', error: expect.stringContaining('x-api-key') },
    })
    expect(await makeClient(strict.url, apiKey).get('/user-info')).toMatchObject({ status: 200 })
    const user = { email: 'by-get@example.com', password: 'correct horse' }
    expect(await strict.admin.get('/create-user', user)).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: [{ parameter: 'password' }] },
    })
    expect(await strict.admin.post('/create-user', user)).toMatchObject({ status: 200 })
  } finally {
    await strict.close()
  }
})
