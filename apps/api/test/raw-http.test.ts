import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

describe('a request that never reaches the app', () => {
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
  ])('gets a JSON response: %s', async (_, request, status, code) => {
    const { head, body } = await rawRequest(request)
    expect(head.split(' ')[1]).toBe(String(status))
    for (const header of [
      'content-type: application/json; charset=utf-8',
      'x-request-id: ',
      'cache-control: no-store',
      'referrer-policy: no-referrer',
      'x-content-type-options: nosniff',
    ]) {
      expect(head.toLowerCase()).toContain(`\r\n${header}`)
    }
    expect(body).toMatchObject({ ok: false, code, request_id: expect.any(String) })
  })
})

test('a connection can be reused after an oversized body', async () => {
  const { apiKey } = await gateway.createAccount()
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname).setEncoding('utf8')
  const head = `POST /user-info HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKey}\r\nContent-Type: application/json`
  const ask = async (request: string) => {
    socket.write(request)
    return String((await once(socket, 'data'))[0])
  }
  const chunk = `400\r\n${' '.repeat(1024)}\r\n`
  expect(await ask(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(100)}0\r\n\r\n`)).toContain(
    ' 413 ',
  )
  expect(await ask(`${head}\r\nContent-Length: 81920\r\n\r\n${' '.repeat(81_920)}`)).toContain(' 413 ')
  // The server would close the connection after half a second.
  await delay(700)
  expect(await ask(`${head}\r\nContent-Length: 2\r\n\r\n{}`)).toContain(' 200 ')
  socket.destroy()
})

test('1,000 broken requests over sockets get a JSON response or a closed connection', async () => {
  const names = fc.constantFrom(
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Expect',
    'Upgrade',
    'X-Api-Key',
    'Content-Type',
    'X-Request-Id',
    'Idempotency-Key',
    'X\0',
    'a b',
    '',
  )
  const values = fc.oneof(
    fc.constantFrom(
      'x',
      '0',
      '5',
      '-1',
      '99999999999999999999',
      'chunked',
      'gzip, chunked',
      'close',
      'keep-alive',
      '100-continue',
      'h2c',
      'a\r\nX-Injected: yes',
      'a\nb',
      '\0',
      '\u00ff',
      'application/json',
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )
  const request = fc
    .record({
      method: fc.constantFrom(
        'GET',
        'POST',
        'HEAD',
        'OPTIONS',
        'PUT',
        'TRACE',
        'CONNECT',
        'PRI',
        'get',
        'G\0T',
        '',
      ),
      target: fc.oneof(
        fc.constantFrom(
          '/user-info',
          '/api/send-message/',
          '*',
          '/',
          '//',
          '/%',
          '/%00',
          '/\\',
          'http://[::1/x',
          'http://x/user-info',
          'x:443',
          '/user-info?a=\0',
          '/#x',
          '/../user-info',
          '/user-info?%',
        ),
        fc.webPath().map((path) => `/user-info${path}`),
      ),
      version: fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9', ''),
      headers: fc.array(fc.tuple(names, values), { maxLength: 5 }),
      end: fc.constantFrom('\r\n', '\n', '\r'),
      body: fc.oneof(
        fc.constantFrom('', '{}', '5\r\n{}   \r\n0\r\n\r\n', 'zz\r\n', 'GET /user-info HTTP/1.1\r\n\r\n'),
        fc.string({ maxLength: 20 }),
      ),
    })
    .map(({ method, target, version, headers, end, body }) =>
      [
        `${method} ${target} ${version}`,
        ...headers.map(([name, value]) => `${name}: ${value}`),
        '',
        body,
      ].join(end),
    )
  let answered = 0
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 20, maxLength: 20 }), async (texts) => {
      const answers = await Promise.all(texts.map(rawAnswer))
      // Pipelined requests get several responses.
      for (const answer of answers.flatMap((text) =>
        text === '' ? [] : text.split(/(?=HTTP\/1\.1 \d{3} )/),
      )) {
        const [head = '', body = ''] = answer.split('\r\n\r\n')
        const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
        expect(status).toBeLessThan(500)
        expect(head).not.toMatch(/^x-injected/im)
        expect(head).toMatch(/^x-request-id: [\w.-]{1,128}\r?$/im)
        if (body !== '') expect(JSON.parse(body)).toMatchObject({ ok: false, code: expect.any(String) })
        answered++
      }
    }),
    { numRuns: 50, seed: 20_260_131 },
  )
  expect(answered).toBeGreaterThan(800)
})

async function rawRequest(text: string): Promise<{ head: string; body: unknown }> {
  const [head = '', body = ''] = (await rawAnswer(text)).split('\r\n\r\n')
  return { head, body: JSON.parse(body) }
}

async function rawAnswer(text: string): Promise<string> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk
  })
  socket.on('error', () => undefined)
  socket.end(text)
  await once(socket, 'close')
  return answer
}
