import { openRedisLinks } from '@wagate/queue/redis-links'
import { makeClient } from '@wagate/test-kit/http-client'
import { startOwnRedis } from '@wagate/test-kit/servers/own-redis'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Gateway, randomPhone, startGateway, startReplica } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({
    LIMIT_REQUESTS_PER_SECOND: '1000',
    LIMIT_REQUESTS_BURST: '1000',
    LIMIT_ACCOUNT_QR_CODES_PER_MINUTE: '3',
    LIMIT_FAILED_KEYS_PER_MINUTE: '3',
  })
})
afterAll(() => gateway.close())

type Account = Awaited<ReturnType<Gateway['createAccount']>>

async function createLink(account: Account): Promise<string> {
  const { body } = await account.post('/create-link', { sender: randomPhone() })
  return new URL(String(body.url)).hash.slice(1)
}

async function openSession(account: Account): Promise<string> {
  const { body } = await makeClient(gateway.url, await createLink(account)).post('/open-link')
  return String(body.session)
}

test('an account creates a limited number of links in a minute', async () => {
  const account = await gateway.createAccount()
  for (const _ of [1, 2, 3]) await createLink(account)
  const refused = await account.post('/create-link', { sender: randomPhone() })
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
})

test('a session has its own limit, and leaves that of the key alone', async () => {
  const account = await gateway.createAccount()
  const session = makeClient(gateway.url, await openSession(account))
  const answers = await Promise.all(Array.from({ length: 100 }, () => session.get('/pairing-status')))
  const refused = answers.filter(({ status }) => status === 429)
  // One of 60 becomes free in a second.
  expect(refused.length).toBeGreaterThanOrEqual(10)
  expect(refused.length).toBeLessThan(50)
  expect((await account.get('/user-info')).headers.get('ratelimit')).toMatch(/^"default";r=99\d;/)
})

test('unknown links count as invalid keys of their network', async () => {
  const account = await gateway.createAccount()
  const link = await createLink(account)
  const unknown = makeClient(gateway.url, 'wag_link_unknown')
  for (const _ of [1, 2, 3]) expect((await unknown.post('/open-link')).status).toBe(401)
  expect((await unknown.post('/open-link')).status).toBe(429)
  expect((await makeClient(gateway.url, link).post('/open-link')).status).toBe(200)
})

test('the wait for a change ends when the caller closes the connection', async () => {
  const session = await openSession(await gateway.createAccount())
  const headers = { 'x-api-key': session }
  // Other tests may use the same channels in the shared one.
  const own = await startOwnRedis()
  const api = await startReplica({ ...gateway, redisUrl: own.url })
  const { requests: redis, close } = openRedisLinks(own.url, { onError: () => undefined })
  const countChannels = async () => (await redis.pubsub('CHANNELS', 'wa:device:*')).length
  try {
    const { body } = await makeClient(api.url, session).get('/pairing-status')
    const tab = new AbortController()
    const url = `${api.url}/pairing-status?after=${body.version}`
    const waiting = fetch(url, { headers, signal: tab.signal }).catch(() => 'closed')
    await vi.waitFor(async () => expect(await countChannels()).toBe(1), eventually)
    tab.abort()
    expect(await waiting).toBe('closed')
    await vi.waitFor(async () => expect(await countChannels()).toBe(0), { timeout: 5000 })
  } finally {
    await close()
    await api.close()
    await own.close()
  }
})
