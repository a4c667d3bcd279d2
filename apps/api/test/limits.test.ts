import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  type GatewayWithReplica,
  linkDevice,
  randomPhone,
  startCuttableGateway,
  startGateway,
  startGatewayWithReplica,
} from './gateway.ts'
import { countStatuses, guessKey, invalidKey, lowLimits, newClient, rateLimited } from './low-limits.ts'

let gateway: GatewayWithReplica
beforeAll(async () => {
  gateway = await startGatewayWithReplica(lowLimits)
})
afterAll(() => gateway.close())

describe('requests of a key', () => {
  test('are counted in all processes together, and every response tells what is left', async () => {
    const account = await gateway.createAccount()
    const elsewhere = makeClient(gateway.replica.url, account.apiKey)
    const first = await account.get('/user-info')
    expect(first.headers.get('ratelimit-policy')).toBe('"default";q=60;w=60')
    expect(first.headers.get('ratelimit')).toBe('"default";r=59;t=1')
    const wrong = await elsewhere.get('/info-device')
    expect(wrong.status).toBe(400)
    expect(wrong.headers.get('ratelimit')).toMatch(/^"default";r=5[89];t=[12]$/)

    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? account : elsewhere).get('/user-info')),
    )
    const allowed = countStatuses(answers)[200] ?? 0
    expect(allowed).toBeGreaterThanOrEqual(58)
    expect(allowed).toBeLessThan(100)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused).toMatchObject(rateLimited)
    expect(refused?.body.limit).toBe('default')
    expect(refused?.headers.get('retry-after')).toBe('1')
    expect(refused?.headers.get('ratelimit')).toBe('"default";r=0;t=1')
    expect(refused?.headers.get('ratelimit-policy')).toBe('"default";q=60;w=60')

    const other = await gateway.createAccount()
    expect((await other.get('/user-info')).status).toBe(200)
  })

  test('have no effect when they are refused, and succeed after Retry-After', async () => {
    const account = await gateway.createAccount()
    await Promise.all(Array.from({ length: 70 }, () => account.get('/user-info')))
    const sender = randomPhone()
    expect(await account.post('/create-device', { sender })).toMatchObject(rateLimited)
    await vi.waitFor(
      async () => expect((await account.post('/create-device', { sender })).body.created).toBe(true),
      { timeout: 5000, interval: 250 },
    )
  })
})

test('requests of all keys of an account count together, without affecting other accounts', async () => {
  const [account, other] = [await gateway.createAccount(), await gateway.createAccount()]
  const keys = [account.apiKey]
  while (keys.length < 3) keys.push(String((await account.post('/create-key')).body.api_key))
  const clients = keys.flatMap((key) => [makeClient(gateway.url, key), makeClient(gateway.replica.url, key)])
  const attack = Promise.all(
    clients.flatMap((client) => Array.from({ length: 40 }, () => client.get('/user-info'))),
  )
  const others = await Promise.all(Array.from({ length: 20 }, () => other.get('/user-info')))
  expect(countStatuses(others)).toEqual({ 200: 20 })
  const answers = await attack
  // Two requests created the keys.
  expect(countStatuses(answers)[200]).toBeLessThanOrEqual(152)
  const refused = answers.filter(({ status }) => status === 429)
  const policies = new Set(refused.map(({ headers }) => headers.get('ratelimit-policy')))
  expect(policies).toContain('"account";q=150;w=150')
  expect(refused.find(({ headers }) => headers.get('ratelimit')?.startsWith('"account";r=0;'))).toBeDefined()
})

test('a refusal is delayed, which slows down clients that retry at once', async () => {
  const client = newClient()
  for (let n = 0; n < 4; n++) await guessKey(client, gateway.url)
  const askedAt = performance.now()
  expect(await guessKey(client, gateway.url)).toMatchObject(rateLimited)
  expect(performance.now() - askedAt).toBeGreaterThanOrEqual(99)
})

test('a request beyond the limit is refused before its body is read', async () => {
  const account = await gateway.createAccount()
  await Promise.all(Array.from({ length: 90 }, () => account.get('/user-info')))
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  const head = [
    'POST /send-media HTTP/1.1',
    'Host: x',
    `X-Api-Key: ${account.apiKey}`,
    'Content-Length: 20000000',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n{`)
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 429 /)
  socket.destroy()
})

test('a limited key does not use up the limit of other keys of its account', async () => {
  const account = await gateway.createAccount()
  const second = makeClient(gateway.url, String((await account.post('/create-key')).body.api_key))
  await Promise.all(Array.from({ length: 200 }, () => account.get('/user-info')))
  const answers = await Promise.all(Array.from({ length: 50 }, () => second.get('/user-info')))
  expect(countStatuses(answers)).toEqual({ 200: 50 })
})

test('generate-qr has a limit for each account, over all senders', async () => {
  const [account, other] = [await gateway.createAccount(), await gateway.createAccount()]
  const generate = async (client: typeof account) => {
    const sender = randomPhone()
    const { body } = await client.post('/create-device', { sender })
    await linkDevice(gateway, Number(body.device_id))
    const answer = await client.post('/generate-qr', { sender })
    await client.post('/delete-device', { sender })
    return answer
  }
  for (let n = 0; n < 5; n++) expect((await generate(account)).status).toBe(409)
  const refused = await generate(account)
  expect(refused).toMatchObject(rateLimited)
  expect(refused.body.limit).toBe('account-generate-qr')
  expect(refused.headers.get('ratelimit')).toMatch(/"account-generate-qr";r=0;t=\d+$/)
  expect((await generate(other)).status).toBe(409)
})

test('generate-qr has its own limit for each device and reports both limits', async () => {
  const account = await gateway.createAccount()
  const [sender, other] = [randomPhone(), randomPhone()]
  const { body } = await account.post('/create-device', { sender })
  await linkDevice(gateway, Number(body.device_id))
  for (let n = 2; n >= 0; n--) {
    const answer = await account.post('/generate-qr', { sender })
    expect(answer).toMatchObject({ status: 409, body: { code: 'already_connected' } })
    expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=60;w=60, "generate-qr";q=3;w=60')
    expect(answer.headers.get('ratelimit')).toMatch(
      new RegExp(`^"default";r=\\d+;t=\\d+, "generate-qr";r=${n};t=\\d+$`),
    )
  }
  expect(await account.post('/generate-qr', { sender: `+${sender}` })).toMatchObject(rateLimited)
  const second = await account.post('/create-device', { sender: other })
  await linkDevice(gateway, Number(second.body.device_id))
  expect((await account.post('/generate-qr', { sender: other })).status).toBe(409)
})

test('create-user has a limit for each ADMIN, which invalid parameters do not use up', async () => {
  const strict = await startGateway({ LIMIT_NEW_USERS_PER_MINUTE: '2' })
  try {
    const create = (fields: Record<string, unknown> = {}) =>
      strict.admin.post('/create-user', {
        email: `${randomUUID()}@example.com`,
        password: 'correct horse',
        ...fields,
      })
    expect((await create({ password: 'x' })).status).toBe(400)
    expect((await create()).headers.get('ratelimit-policy')).toBe('"create-user";q=2;w=60')
    expect((await create()).status).toBe(200)
    expect(await create()).toMatchObject(rateLimited)
  } finally {
    await strict.close()
  }
})

test('the defaults are 50 requests a second with a burst of 100', async () => {
  const defaults = await startGateway({ LIMIT_REQUESTS_PER_SECOND: '', LIMIT_REQUESTS_BURST: '' })
  try {
    const { headers } = await defaults.admin.get('/user-info')
    expect(headers.get('ratelimit-policy')).toBe('"default";q=100;w=2')
    expect(headers.get('ratelimit')).toBe('"default";r=99;t=1')
  } finally {
    await defaults.close()
  }
})

test('responses have no rate limit headers when limits are off', async () => {
  const open = await startGateway()
  try {
    const { headers } = await open.admin.get('/user-info')
    expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null])
  } finally {
    await open.close()
  }
})

test.each(['cut', 'freeze'] as const)('without Redis (%s) every process counts for itself', async (fail) => {
  const alone = await startCuttableGateway(lowLimits)
  try {
    const account = await alone.createAccount()
    alone.redis[fail]()
    const startedAt = performance.now()
    const answers = await Promise.all(Array.from({ length: 70 }, () => account.get('/user-info')))
    expect(countStatuses(answers)).toEqual({ 200: 60, 429: 10 })
    expect(await guessKey(newClient(), alone.url)).toMatchObject(invalidKey)
    // Requests do not all wait for Redis.
    expect(performance.now() - startedAt).toBeLessThan(3000)
  } finally {
    await alone.close()
  }
})

test('restart-session has a limit for each device', async () => {
  const account = await gateway.createAccount()
  const sender = randomPhone()
  await account.post('/create-device', { sender })
  const restart = () => account.post('/restart-session', { sender })
  for (let n = 0; n < 3; n++) expect((await restart()).status).toBe(409)
  expect(await restart()).toMatchObject(rateLimited)
})
