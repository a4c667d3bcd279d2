import { lookup } from 'node:dns'
import { Agent } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { DeadlineExceeded } from '../src/deadline.ts'
import { ask, type HttpRequest, openTunnel } from '../src/http-client.ts'

const sockets = new Set<Socket>()
let server: Server | undefined
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  server?.close()
})

/** A peer that does this when it has been asked. */
async function serve(answer: (socket: Socket) => void): Promise<number> {
  server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const askFor = (port: number, more: Partial<HttpRequest> = {}) =>
  ask({ url: new URL(`http://127.0.0.1:${port}`), deadlineMs: 10_000, ...more })

const tunnelThrough = (port: number, signal = new AbortController().signal) =>
  openTunnel(
    { host: '127.0.0.1', port, authority: 'example.com:443', headers: {} },
    { lookup: () => lookup, signal },
  )

const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'

/** Until the peer has had enough of it. */
function repeat(socket: Socket, text: string): void {
  const write = () => {
    if (socket.writable) socket.write(text, () => setImmediate(write))
  }
  write()
}

test.each([
  ['an answer', (socket: Socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'), 204],
  ['hints before it', (socket: Socket) => socket.end(`${hint.repeat(3)}HTTP/1.1 200 OK\r\n\r\n`), 200],
  ['another protocol', (socket: Socket) => socket.write(switching), 'EPROTO'],
  ['hints without an end', (socket: Socket) => repeat(socket, hint), 'EPROTO'],
  ['nothing, and closes', (socket: Socket) => socket.end(), 'ECONNRESET'],
  ['half a head, and closes', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nA: '), 'ECONNRESET'],
  [
    'a head without an end',
    (socket: Socket) => repeat(socket, `A: ${'a'.repeat(1000)}\r\n`),
    'HPE_INVALID_CONSTANT',
  ],
  ['no HTTP', (socket: Socket) => socket.end('220 mail\r\n'), 'HPE_INVALID_CONSTANT'],
] as const)('of a peer that answers %s', async (_, answer, expected) => {
  const port = await serve(answer)
  const found = await askFor(port).then(
    ({ statusCode }) => statusCode,
    (error: NodeJS.ErrnoException) => error.code,
  )
  expect(found).toBe(expected)
})

test('a request is given up when its caller gives up', async () => {
  const giveUp = new AbortController()
  const port = await serve(() => giveUp.abort())
  await expect(askFor(port, { signal: giveUp.signal })).rejects.toMatchObject({ name: 'AbortError' })
  await expect(askFor(port, { signal: giveUp.signal })).rejects.toMatchObject({ name: 'AbortError' })
})

test.each([
  ['silence', ''],
  ['half a head', 'HTTP/1.1 200 OK\r\nA: '],
])('a request ends at its deadline (%s)', async (_, text) => {
  const port = await serve((socket) => socket.write(text))
  await expect(askFor(port, { deadlineMs: 50 })).rejects.toBeInstanceOf(DeadlineExceeded)
})

test('so does the reading of its answer', async () => {
  const port = await serve((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello'))
  const answer = await askFor(port, { deadlineMs: 50 })
  await expect(answer.toArray()).rejects.toBeInstanceOf(DeadlineExceeded)
})

test('an agent that gives no connection does not keep a request from its deadline', async () => {
  const agent = new Agent()
  agent.createConnection = () => undefined as unknown as Socket
  await expect(askFor(1, { agent, deadlineMs: 50 })).rejects.toBeInstanceOf(DeadlineExceeded)
})

test('an idle limit that only the agent has ends no request', async () => {
  const port = await serve((socket) => setTimeout(() => socket.end('HTTP/1.1 204 No Content\r\n\r\n'), 60))
  const agent = new Agent({ keepAlive: true, timeout: 20 })
  expect((await askFor(port, { agent })).statusCode).toBe(204)
  await expect(askFor(port, { idleMs: 20 })).rejects.toMatchObject({ code: 'ETIMEDOUT' })
})

test('a body is sent again over a new connection when the peer has closed the idle one', async () => {
  const bodies: string[] = []
  let answered = 0
  const port = await serve((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    answered += 1
    // Without an answer to the next request.
    socket.on('data', (data) => {
      bodies.push(String(data))
      socket.destroy()
    })
  })
  const agent = new Agent({ keepAlive: true })
  const put = () => askFor(port, { agent, method: 'PUT', body: () => Readable.from(['bytes']) })
  ;(await put()).resume()
  await expect.poll(() => Object.keys(agent.freeSockets).length).toBe(1)
  ;(await put()).resume()
  expect([answered, bodies.length]).toEqual([2, 1])
  agent.destroy()
})

test.each([
  ['200', 'HTTP/1.1 200 OK\r\n\r\nhello'],
  ['407', 'HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno'],
])('a tunnel is one whatever its status (%s)', async (status, text) => {
  const port = await serve((socket) => socket.write(text))
  const { answer, socket, head } = await tunnelThrough(port)
  expect([String(answer.statusCode), String(head)]).toEqual([status, status === '200' ? 'hello' : 'no'])
  socket.destroy()
})

test('there is no tunnel through a peer whose answer has no end', async () => {
  let sent = 0
  const port = await serve((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    repeat(socket, 'a'.repeat(10_000))
    socket.on('close', () => {
      sent = socket.bytesWritten
    })
  })
  await expect(tunnelThrough(port)).rejects.toMatchObject({ code: 'HPE_HEADER_OVERFLOW' })
  await expect.poll(() => sent).toBeGreaterThan(0)
  expect(sent).toBeLessThan(10_000_000)
})

test('there is no tunnel once its time is over', async () => {
  const port = await serve(() => undefined)
  await expect(tunnelThrough(port, AbortSignal.timeout(50))).rejects.toMatchObject({ name: 'TimeoutError' })
})
