import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeServer } from '../src/http/server.ts'
import { startGateway } from './gateway.ts'

let server: Server
beforeAll(async () => {
  const read = async (request: Request) => Response.json({ ok: true, bytes: (await request.text()).length })
  server = makeServer(read, { headersMs: 300, requestMs: 600, checkEveryMs: 50 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** What a client receives that sends one character every 20 ms and never finishes. */
async function drip(beginning: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text
  })
  socket.on('error', () => undefined)
  socket.write(beginning)
  const timer = setInterval(() => socket.write('a'), 20)
  await once(socket, 'close')
  clearInterval(timer)
  return answer
}

describe('a client that never finishes its request', () => {
  test.each([
    ['its first line', 'GET /'],
    ['its headers', 'GET / HTTP/1.1\r\nHost: x\r\nX-Long: '],
    ['its body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n'],
    ['its chunks', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n'],
  ])('gets a JSON response and is disconnected: %s', async (_, beginning) => {
    const answer = await drip(beginning)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1.1 408 /)
    expect(head).toContain('Connection: close')
    expect(JSON.parse(body)).toMatchObject({ ok: false, code: 'request_timeout' })
  })

  test('is disconnected when it sends nothing', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').resume()
    await once(socket, 'close')
  })

  test.each([
    ['nothing', ''],
    ['half a head', 'GET / HTTP/1.1\r\nHost: x\r\nX-Long: '],
    ['half a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc'],
    ['no HTTP', 'hello\r\n\r\n'],
  ])('does not keep its connection when it ignores the answer (%s)', async (_, beginning) => {
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => undefined).resume()
    await once(socket, 'connect')
    socket.write(beginning)
    const count = () => new Promise((resolve) => server.getConnections((_error, found) => resolve(found)))
    await vi.waitFor(async () => expect(await count()).toBe(0), eventually)
    socket.destroy()
  })

  test('does not affect other clients', async () => {
    const slow = drip('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n')
    const { port } = server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'abc' })
    expect(await answer.json()).toEqual({ ok: true, bytes: 3 })
    await slow
  })
})

test('a connection beyond CONNECTIONS_MAX is closed without a response, and the others are served', async () => {
  const gateway = await startGateway({ CONNECTIONS_MAX: '2' })
  try {
    const ask = (connection: string) => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').resume()
      socket.on('error', () => undefined)
      socket.write(`GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n\r\n`)
      return socket
    }
    const others = [ask('keep-alive'), ask('keep-alive')]
    await Promise.all(others.map((socket) => once(socket, 'data')))
    const refused = ask('close')
    await once(refused, 'close')
    expect(refused.bytesRead).toBe(0)
    for (const socket of others) {
      socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /)
    }
  } finally {
    await gateway.close()
  }
})
