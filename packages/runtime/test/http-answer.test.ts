import http from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { answerOf, tunnelOf } from '../src/http-answer.ts'

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
  const request = http.get({ port, agent: false })
  const found = await answerOf(request).then(
    ({ statusCode }) => statusCode,
    (error: NodeJS.ErrnoException) => error.code,
  )
  expect(found).toBe(expected)
})

test.each(['of an aborted request', 'of one that was aborted after another protocol'])('%s', async (name) => {
  const giveUp = new AbortController()
  const isSwitched = name.includes('protocol')
  const port = await serve((socket) => {
    if (isSwitched) socket.write(switching)
    else giveUp.abort()
  })
  const request = http.get({ port, agent: false, signal: giveUp.signal })
  await expect(answerOf(request)).rejects.toMatchObject({ code: isSwitched ? 'EPROTO' : 'ABORT_ERR' })
  giveUp.abort()
})

test.each([
  ['200', 'HTTP/1.1 200 OK\r\n\r\nhello'],
  ['407', 'HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno'],
])('a tunnel is one whatever its status (%s)', async (status, text) => {
  const port = await serve((socket) => socket.write(text))
  const request = http.request({ port, method: 'CONNECT', path: 'example.com:443', agent: false }).end()
  const { answer, socket, head } = await tunnelOf(request)
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
  const request = http.request({ port, method: 'CONNECT', path: 'example.com:443', agent: false }).end()
  await expect(tunnelOf(request)).rejects.toMatchObject({ code: 'HPE_HEADER_OVERFLOW' })
  await expect.poll(() => sent).toBeGreaterThan(0)
  expect(sent).toBeLessThan(10_000_000)
})
