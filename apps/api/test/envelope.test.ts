import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../src/calls/operation.ts'
import { toAppError } from '../src/http/failure-body.ts'
import { operations } from '../src/operations.ts'
import { createSender, type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

test.each(['/user-info', '/user-info/', '/api/user-info', '/api/user-info/'])(
  'answers on %s',
  async (path) => {
    const get = await gateway.admin.get(path)
    const post = await gateway.admin.post(path, {})
    expect(get).toMatchObject({ status: 200, body: { ok: true, email: 'admin@example.com' } })
    expect(post.body).toEqual(get.body)
  },
)

test.each([
  '/api',
  '/api/',
  '/nothing',
  '/api/api/user-info',
  '/User-Info',
  '/user-info/x',
  '/user-info//',
  '/metrics',
])('returns 404 in JSON on %s', async (path) => {
  for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
    const answer = await gateway.admin.request(path, { method })
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
  }
})

describe('every response', () => {
  test('has ok: true and its fields side by side on success', async () => {
    const { status, body } = await gateway.admin.get('/user-info')
    expect({ status, body }).toMatchObject({ status: 200, body: { ok: true, level: 'ADMIN' } })
    for (const field of ['error', 'code', 'data', 'request_id']) expect(body).not.toHaveProperty(field)
  })

  test('has ok: false, a sentence, a code and the request id on failure, and never status 200', async () => {
    const answer = await gateway.admin.post('/send-message', {
      sender: 'x',
      number: '4915199999999',
      message: 'x',
    })
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 400,
      body: {
        ok: false,
        error: 'sender must be a phone number: 7 to 15 digits with country prefix',
        code: 'invalid_parameter',
        request_id: answer.headers.get('x-request-id'),
        details: [
          { parameter: 'sender', message: 'must be a phone number: 7 to 15 digits with country prefix' },
        ],
      },
    })
  })

  test('has a unique id and forbids caching, referrers and sniffing, with any status', async () => {
    const large = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: ' '.repeat(70_000),
    }
    const answers = await Promise.all([
      gateway.admin.get('/user-info'),
      gateway.admin.request('/user-info', { method: 'OPTIONS' }),
      gateway.admin.get('/messages', { limit: '0' }),
      gateway.anonymous.get('/user-info'),
      gateway.admin.get('/nothing'),
      gateway.admin.request('/user-info', { method: 'PUT' }),
      gateway.admin.request('/user-info', large),
      gateway.admin.post('/user-info', 'x', { 'content-type': 'text/plain' }),
      gateway.admin.request('/user-info', { method: 'HEAD' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 204, 400, 401, 404, 405, 413, 415, 200])
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(answers.length)
    for (const { headers } of answers) {
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  test('returns 503 for an error of Postgres, 500 "Internal error" for a bug, and discloses nothing else', async () => {
    expect(toAppError(new TypeError('secret'))).toMatchObject({ status: 500, message: 'Internal error' })
    const account = await gateway.createAccount()
    await gateway.db.$client`ALTER TABLE messages RENAME COLUMN body TO secret_column`
    try {
      const { status, body } = await account.get('/messages')
      expect({ status, body }).toEqual({
        status: 503,
        body: {
          ok: false,
          error: 'The gateway is temporarily unavailable. Try again.',
          code: 'unavailable',
          request_id: expect.any(String),
        },
      })
    } finally {
      await gateway.db.$client`ALTER TABLE messages RENAME COLUMN secret_column TO body`
    }
    expect((await account.get('/messages')).status).toBe(200)
  })
})

describe('methods', () => {
  /** What changes something is never done by HEAD, which clients send to look. */
  const accepted = ({ methods, changes }: Operation) => [
    ...(methods.includes('GET') ? ['GET', ...(changes ? [] : ['HEAD'])] : []),
    ...(methods.includes('POST') ? ['POST'] : []),
  ]

  test.each(
    operations.map((operation) => [operation.name, [...accepted(operation), 'OPTIONS'].join(', ')] as const),
  )('%s allows %s', async (name, allow) => {
    for (const path of [`/${name}`, `/api/${name}/`]) {
      const options = await gateway.anonymous.request(path, { method: 'OPTIONS' })
      expect(options).toMatchObject({ status: 204, body: {} })
      expect(options.headers.get('allow')).toBe(allow)
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        const refused = await gateway.admin.request(path, { method })
        expect(refused).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
        expect(refused.headers.get('allow')).toBe(allow)
      }
      const head = await gateway.admin.request(path, { method: 'HEAD' })
      expect(head.body).toEqual({})
      if (allow.includes('HEAD')) expect([200, 400]).toContain(head.status)
      else expect(head.status).toBe(405)
    }
  })

  test('POST returns 405 on a read that only accepts GET', async () => {
    expect(await gateway.admin.post('/devices', {})).toMatchObject({ status: 405 })
  })

  test('HEAD never sends, nor do OPTIONS, PUT, PATCH and DELETE', async () => {
    const { account, sender } = await createSender(gateway)
    const query = new URLSearchParams({ sender, number: '4915199999999', message: 'x' })
    for (const method of ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']) {
      for (const prefix of ['', '/api']) await account.request(`${prefix}/send-message?${query}`, { method })
    }
    expect((await account.get('/messages')).body.messages).toEqual([])
    expect((await account.get('/send-message', Object.fromEntries(query))).status).toBe(200)
  })

  test('HEAD changes nothing', async () => {
    const account = await gateway.createAccount()
    const answer = await account.request('/create-device?sender=4915112345678', { method: 'HEAD' })
    expect(answer.status).toBe(405)
    expect((await account.get('/devices')).body).toMatchObject({ ok: true, devices: [] })
  })
})

test.each(['Sec-Purpose', 'Purpose'])(
  'a GET that changes state is refused with %s: prefetch',
  async (name) => {
    const account = await gateway.createAccount()
    for (const purpose of ['prefetch', 'prefetch;prerender']) {
      const answer = await account.get('/create-device', { sender: '4915112345678' }, { [name]: purpose })
      expect(answer).toMatchObject({ status: 400, body: { code: 'prefetch_refused' } })
      expect(await account.get('/devices', {}, { [name]: purpose })).toMatchObject({ status: 200 })
    }
    expect((await account.get('/devices')).body.devices).toEqual([])
  },
)

describe('request id', () => {
  test.each(['my-trace_1.2', 'x', 'a'.repeat(128)])(
    'is taken from the caller if it is valid: %s',
    async (given) => {
      const { headers } = await gateway.admin.get('/user-info', {}, { 'x-request-id': given })
      expect(headers.get('x-request-id')).toBe(given)
    },
  )

  test.each(['with space', 'a'.repeat(129), 'x"y', ''])('is generated instead of %j', async (given) => {
    const { headers } = await gateway.admin.get('/user-info', {}, { 'x-request-id': given })
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('is in the body of a failure', async () => {
    const { body } = await gateway.anonymous.get('/user-info', {}, { 'x-request-id': 'mine' })
    expect(body.request_id).toBe('mine')
  })
})
