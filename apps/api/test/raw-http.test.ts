import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

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
