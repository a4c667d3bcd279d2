import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../src/operations.ts'
import { type Gateway, startGateway } from './gateway.ts'

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
  '/',
  '/api',
  '/api/',
  '/nothing',
  '/api/api/user-info',
  '/User-Info',
  '/user-info/x',
  '/user-info//',
])('answers 404 in JSON on %s', async (path) => {
  for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
    const answer = await gateway.admin.request(path, { method })
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
  }
})

describe('methods', () => {
  const changing = operations.filter(({ changes }) => changes).map(({ name }) => name)
  const readingBoth = ['user-info', 'info-device']
  const readingGet = ['devices', 'messages']

  test('there are the ten operations of the specification', () => {
    expect([...changing, ...readingBoth, ...readingGet].sort()).toEqual(
      operations.map(({ name }) => name).sort(),
    )
    expect(operations).toHaveLength(10)
  })

  test.each([
    ...changing.map((name) => [name, 'GET, POST, OPTIONS']),
    ...readingBoth.map((name) => [name, 'GET, HEAD, POST, OPTIONS']),
    ...readingGet.map((name) => [name, 'GET, HEAD, OPTIONS']),
  ])('%s allows %s', async (name, allow) => {
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

  test('POST on a read that only takes GET is 405', async () => {
    expect(await gateway.admin.post('/devices', {})).toMatchObject({ status: 405 })
  })

  test('HEAD changes nothing', async () => {
    const account = await gateway.createAccount()
    const answer = await account.request('/create-device?sender=4915112345678', { method: 'HEAD' })
    expect(answer.status).toBe(405)
    expect((await account.get('/devices')).body).toEqual({ ok: true, devices: [] })
  })
})

test.each(['Sec-Purpose', 'Purpose'])(
  'a GET that changes something is refused with %s: prefetch',
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
  test('is the caller’s where it is harmless', async () => {
    const { headers } = await gateway.admin.get('/user-info', {}, { 'x-request-id': 'my-trace_1.2' })
    expect(headers.get('x-request-id')).toBe('my-trace_1.2')
  })

  test.each(['with space', 'a'.repeat(129), 'x"y', ''])('is a new one instead of %j', async (given) => {
    const { headers } = await gateway.admin.get('/user-info', {}, { 'x-request-id': given })
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('stands in the body of a failure', async () => {
    const { body } = await gateway.anonymous.get('/user-info', {}, { 'x-request-id': 'mine' })
    expect(body.request_id).toBe('mine')
  })
})

describe('body', () => {
  const json = { 'content-type': 'application/json' }
  const post = (body: string | Uint8Array, headers: Record<string, string> = json, path = '/create-device') =>
    gateway.admin.request(path, { method: 'POST', headers, body })

  test.each(['{', '{"a":}', 'sender=1', '"text"', '1', 'null', 'true', '[]', '[{"sender":"1"}]'])(
    'that is %s is 400 malformed_json',
    async (body) => {
      expect(await post(body)).toMatchObject({ status: 400, body: { code: 'malformed_json' } })
    },
  )

  test('that is not UTF-8 is 400', async () => {
    const broken = new Uint8Array([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')])
    expect(await post(broken)).toMatchObject({ status: 400, body: { code: 'malformed_json' } })
  })

  test('that is empty counts as an empty object', async () => {
    for (const body of ['', '  ']) expect(await post(body, json, '/user-info')).toMatchObject({ status: 200 })
    expect(await gateway.admin.request('/user-info', { method: 'POST' })).toMatchObject({ status: 200 })
  })

  test.each([
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/json; charset=iso-8859-1',
  ])('of type %s is 415', async (type) => {
    const answer = await post('{"sender":"4915112345678"}', { 'content-type': type })
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
  })

  test('that is compressed is 415', async () => {
    const answer = await post('{}', { ...json, 'content-encoding': 'gzip' })
    expect(answer).toMatchObject({ status: 415 })
  })

  test.each([
    ['application/json', '{"sender":"+49 151 111-0001"}'],
    ['application/json; charset=utf-8', '{"sender":4915111110001}'],
    ['APPLICATION/JSON;charset="UTF-8"', '{"sender":"004915111110001"}'],
    ['application/x-www-form-urlencoded', 'sender=%2B4915111110001&name=a+b'],
    ['application/x-www-form-urlencoded', '{"sender":"4915111110001"}'],
    ['', '{"sender":"4915111110001"}'],
  ])('of type %j is read: %s', async (type, body) => {
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': type }
    const sent = type === '' ? new TextEncoder().encode(body) : body
    expect((await post(sent, headers)).status).toBe(200)
  })

  test('larger than 64 KiB is 413, announced or streamed', async () => {
    const large = JSON.stringify({ name: 'x'.repeat(70_000) })
    expect(await post(large)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
    const chunks = ReadableStream.from(
      (function* () {
        for (let n = 0; n < 100; n++) yield new TextEncoder().encode(' '.repeat(1024))
      })(),
    )
    const streamed = await gateway.admin.request('/create-device', {
      method: 'POST',
      headers: json,
      body: chunks,
      duplex: 'half',
    } as RequestInit)
    expect(streamed).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
  })
})

describe('parameters', () => {
  test('of the query count for POST as well, equal values in both places too', async () => {
    const { body } = await gateway.admin.post('/create-device?sender=4915122220001', {
      sender: 4915122220001,
      name: 'shop',
    })
    expect(body).toMatchObject({ ok: true, sender: '4915122220001', name: 'shop' })
  })

  test.each([
    ['GET', '/create-device?sender=4915122220002&sender=4915122220002', undefined],
    ['POST', '/create-device?sender=4915122220002', '{"sender":"4915122220003"}'],
  ])('given twice are refused: %s %s', async (method, path, body) => {
    const init = { method, headers: { 'content-type': 'application/json' }, ...(body && { body }) }
    expect(await gateway.admin.request(path, init)).toMatchObject({
      status: 400,
      body: { code: 'duplicate_parameter', details: [{ parameter: 'sender' }] },
    })
  })

  test('given twice in a form are refused', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await gateway.admin.post('/create-device', 'sender=4915122220002&sender=1', headers)
    expect(answer).toMatchObject({ status: 400, body: { code: 'duplicate_parameter' } })
  })

  test('that are unknown are named in warnings', async () => {
    const { body } = await gateway.admin.post('/user-info?foo=1', { capton: 'x', __proto__x: 1 })
    expect(body).toMatchObject({
      ok: true,
      warnings: [
        'Unknown parameter "foo" was ignored.',
        'Unknown parameter "capton" was ignored.',
        'Unknown parameter "__proto__x" was ignored.',
      ],
    })
    expect((await gateway.admin.get('/user-info')).body).not.toHaveProperty('warnings')
  })

  test('named __proto__ are parameters like others', async () => {
    const { body } = await gateway.admin.post('/user-info', '{"__proto__":{"email":"x"},"constructor":1}')
    expect(body).toMatchObject({ ok: true, email: 'admin@example.com' })
    expect(body.warnings).toHaveLength(2)
  })

  test('that are missing are all named', async () => {
    expect(await gateway.admin.post('/send-message', {})).toMatchObject({
      status: 400,
      body: {
        code: 'missing_parameter',
        error: 'sender is missing; number is missing; message is missing',
        details: [{ parameter: 'sender' }, { parameter: 'number' }, { parameter: 'message' }],
      },
    })
  })

  test('that are not valid are all named', async () => {
    expect(
      await gateway.admin.post('/send-message', { sender: 'x', number: true, message: 1 }),
    ).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_parameter',
        details: [{ parameter: 'sender' }, { parameter: 'number' }, { parameter: 'message' }],
      },
    })
  })

  test('null counts as absent', async () => {
    const answer = await gateway.admin.post('/info-device', { device_id: null, sender: null })
    expect(answer).toMatchObject({ status: 400, body: { code: 'missing_parameter' } })
  })
})

describe('what never reaches the app', () => {
  const ok = 'GET /user-info HTTP/1.1\r\n'

  test.each([
    ['headers of 70 KiB', `${ok}Host: x\r\nX-Large: ${'x'.repeat(70_000)}\r\n\r\n`, 431, 'headers_too_large'],
    [
      'a URL of 70 KiB',
      `GET /user-info?a=${'x'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['not HTTP', 'hello\r\n\r\n', 400, 'invalid_parameter'],
    ['an unknown method', 'BREW /user-info HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid_parameter'],
    [
      'two lengths',
      `POST /user-info HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`,
      400,
      'invalid_parameter',
    ],
    ['a broken host', `${ok}Host: a b\r\nConnection: close\r\n\r\n`, 400, 'invalid_parameter'],
    ['no host', `${ok}Connection: close\r\n\r\n`, 401, 'missing_api_key'],
    [
      'an expectation',
      `${ok}Host: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n`,
      401,
      'missing_api_key',
    ],
    [
      'a large query',
      `GET /user-info?a=${'x'.repeat(60_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      401,
      'missing_api_key',
    ],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400, 'invalid_parameter'],
  ])('%s is answered in JSON', async (_, request, status, code) => {
    const { head, body } = await rawRequest(request)
    expect(head.split(' ')[1]).toBe(String(status))
    expect(head.toLowerCase()).toContain('x-request-id: ')
    expect(body).toMatchObject({ ok: false, code, request_id: expect.any(String) })
  })
})

async function rawRequest(text: string): Promise<{ head: string; body: unknown }> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk
  })
  socket.on('error', () => undefined)
  socket.write(text)
  await once(socket, 'close')
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { head, body: JSON.parse(body) }
}
