import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../src/operations.ts'
import { type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

describe('body', () => {
  const json = { 'content-type': 'application/json' }
  const post = (body: string | Uint8Array, headers: Record<string, string> = json, path = '/create-device') =>
    gateway.admin.request(path, { method: 'POST', headers, body })

  test.each(['{', '{"a":}', 'sender=1', '"text"', '1', 'null', 'true', '[]', '[{"sender":"1"}]'])(
    'returns 400 malformed_json for %s',
    async (body) => {
      expect(await post(body)).toMatchObject({ status: 400, body: { code: 'malformed_json' } })
    },
  )

  test('returns 400 for invalid UTF-8', async () => {
    const broken = new Uint8Array([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')])
    expect(await post(broken)).toMatchObject({ status: 400, body: { code: 'malformed_json' } })
  })

  test('counts as an empty object when it is empty', async () => {
    for (const body of ['', '  ']) expect(await post(body, json, '/user-info')).toMatchObject({ status: 200 })
    expect(await gateway.admin.request('/user-info', { method: 'POST' })).toMatchObject({ status: 200 })
  })

  test.each([
    'text/plain',
    'multipart/form-data',
    'multipart/mixed; boundary=x',
    'application/xml',
    'application/json; charset=iso-8859-1',
  ])('returns 415 for type %s', async (type) => {
    const answer = await post('{"sender":"4915112345678"}', { 'content-type': type })
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
  })

  test('returns 415 when it is compressed', async () => {
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
    ['application/json', '\ufeff{"sender":"4915111110001"}'],
    ['application/json; charset=us-ascii', '{"sender":"4915111110001"}'],
    ['application/vnd.api+json', '{"sender":"4915111110001"}'],
    ['application/x-www-form-urlencoded', 'sender=+4915111110001'],
    [
      'multipart/form-data; boundary=Ab',
      '--Ab\r\nContent-Disposition: form-data; name="sender"\r\n\r\n+4915111110001\r\n--Ab--',
    ],
  ])('is accepted with type %j: %s', async (type, body) => {
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': type }
    const sent = type === '' ? new TextEncoder().encode(body) : body
    expect((await post(sent, headers)).status).toBe(200)
  })

  test('returns 413 above 64 KiB, announced or streamed', async () => {
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
  test('are also read from the query of a POST, which may repeat values of the body', async () => {
    const { body } = await gateway.admin.post('/create-device?sender=4915122220001', {
      sender: 4915122220001,
      name: 'shop',
    })
    expect(body).toMatchObject({ ok: true, sender: '4915122220001', name: 'shop' })
  })

  test.each([
    ['GET', '/create-device?sender=4915122220002&sender=4915122220002', undefined],
    ['POST', '/create-device?sender=4915122220002', '{"sender":"4915122220003"}'],
  ])('are refused when they appear twice: %s %s', async (method, path, body) => {
    const init = { method, headers: { 'content-type': 'application/json' }, ...(body && { body }) }
    expect(await gateway.admin.request(path, init)).toMatchObject({
      status: 400,
      body: { code: 'duplicate_parameter', details: [{ parameter: 'sender' }] },
    })
  })

  test.each([
    ['{"sender":"4915122220002","name":"a","sender":"4915122220003"}', 'sender'],
    ['{"sender":"4915122220002","name":"a","\\u006eame":"a"}', 'name'],
    ['{"sender":"4915122220002","name":null,"name":"{\\"name\\":1}"}', 'name'],
    ['{"api_key":"a","api_key":"b"}', 'api_key'],
  ])('are refused when they appear twice in a JSON object: %s', async (body, parameter) => {
    const answer = await gateway.admin.post('/create-device', body)
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'duplicate_parameter', details: [{ parameter }] },
    })
  })

  test('may repeat a name in nested objects or in text', async () => {
    const body =
      '{"sender":"4915122220009","name":"{\\"sender\\":1,\\"sender\\":2}\\\\","a":{"sender":1,"b":[{"sender":2}]}}'
    const answer = await gateway.admin.post('/create-device', body)
    expect(answer).toMatchObject({ status: 200, body: { name: '{"sender":1,"sender":2}\\' } })
  })

  test('are refused when they appear twice in a form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await gateway.admin.post('/create-device', 'sender=4915122220002&sender=1', headers)
    expect(answer).toMatchObject({ status: 400, body: { code: 'duplicate_parameter' } })
  })

  test('are named in warnings when they are unknown', async () => {
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

  test('are only counted in warnings from the 101st unknown one on', async () => {
    const given = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`p${n}`, n]))
    const warnings = (await gateway.admin.post('/user-info', given)).body.warnings as string[]
    expect(warnings).toHaveLength(101)
    expect(warnings.at(-1)).toBe('2900 more unknown parameters were ignored.')
  })

  test('may be named __proto__', async () => {
    const { body } = await gateway.admin.post('/user-info', '{"__proto__":{"email":"x"},"constructor":1}')
    expect(body).toMatchObject({ ok: true, email: 'admin@example.com' })
    expect(body.warnings).toHaveLength(2)
  })

  test('are all named when they are missing', async () => {
    expect(await gateway.admin.post('/send-message', {})).toMatchObject({
      status: 400,
      body: {
        code: 'missing_parameter',
        error: 'sender is required; number or lid or reply_to is required; message is required',
        details: [{ parameter: 'sender' }, { parameter: 'number' }, { parameter: 'message' }],
      },
    })
  })

  test('are all named when they are invalid', async () => {
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

  const texts = operations
    .filter(({ takesFile }) => !takesFile)
    .flatMap((operation) =>
      Object.keys(operation.parameters.shape)
        // A credential, which is invalid with them.
        .filter((parameter) => parameter !== 'token')
        .map((parameter) => ({ operation, parameter })),
    )

  test.each(texts)(
    'are named when they contain U+0000 or an unpaired surrogate: $parameter of $operation.name',
    async ({ operation: { name, methods, example }, parameter }) => {
      const method = methods.includes('POST') ? 'post' : 'get'
      for (const broken of [
        '4915112345678\0',
        ...(method === 'post' ? ['half \ud83d pair', '\udc00'] : []),
      ]) {
        const given = { ...example.given, [parameter]: broken } as Record<string, string>
        expect(await gateway.admin[method](`/${name}`, given)).toMatchObject({
          status: 400,
          body: { code: 'invalid_parameter', details: [{ parameter }] },
        })
      }
    },
  )

  const nested = (times: number) => `${'['.repeat(times)}${']'.repeat(times)}`

  test('are refused when they are nested too often', async () => {
    for (const value of [nested(64), nested(20_000), `{"a":${nested(63)}}`]) {
      expect(await gateway.admin.post('/passkey-assertion', `{"assertion":${value}}`)).toMatchObject({
        status: 400,
        body: { code: 'malformed_json', error: expect.stringContaining('nested') },
      })
    }
  })

  test('are refused when they are nested and a text is expected', async () => {
    const deep = nested(63)
    for (const value of [deep, '{"toString":1}', '{"__proto__":{"toString":null}}']) {
      const inBody = await gateway.admin.post('/create-device', `{"sender":${value}}`)
      expect(inBody).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
      const inBoth = await gateway.admin.post('/create-device?sender=4915122220002', `{"sender":${value}}`)
      expect(inBoth).toMatchObject({ status: 400, body: { code: 'duplicate_parameter' } })
      const asKey = await gateway.anonymous.post('/user-info', `{"api_key":${value}}`)
      expect(asKey).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } })
    }
  })
})
