import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, type IncomingMessage } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createServer as createSecureServer, TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { timeAwake } from '@wagate/test-kit/awake-time'
import { type DnsAnswer, type DnsServer, startDnsServer } from '@wagate/test-kit/dns-server'
import { makeCertificate } from '@wagate/test-kit/make-certificate'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDeadline } from '../src/deadline.ts'
import { type HostNames, makeHostNames } from '../src/host-names.ts'
import { ask, openTunnel } from '../src/http-client.ts'

/** What a peer does, one step after the other. Endless steps end with the connection. */
type Step =
  | { do: 'write'; text: string }
  | { do: 'repeat'; text: string }
  | { do: 'drip'; text: string }
  | { do: 'close' | 'reset' | 'silence' }

const redirect = 'HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n'
const bomb = gzipSync(Buffer.alloc(1_000_000)).toString('latin1')
const written = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 200 ',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  redirect,
  'HTTP/1.1 302 Found\r\nLocation: http://\r\n\r\n',
  'Content-Length: 5\r\n\r\n',
  'Content-Length: -5\r\nContent-Length: 7\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n',
  'Connection: close\r\n\r\n',
  `Content-Encoding: gzip\r\n\r\n${bomb}`,
  '5\r\nhello\r\n',
  'ffffffffffffffff\r\n',
  '0\r\nTrailer: a\r\n\r\n',
  'hello',
  '\0\xff\x16\x03\x01',
]
/** Beginnings of proper answers, of which some are whole. */
const heads = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
]
const repeated = [
  'HTTP/1.1 103 Early Hints\r\n\r\n',
  'A: b\r\n',
  'a'.repeat(4000),
  '5\r\nhello\r\n',
  redirect,
]

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('write'), text: fc.constantFrom(...written) }) },
  fc.record({ do: fc.constantFrom('repeat', 'drip'), text: fc.constantFrom(...repeated, ...written) }),
  fc.record({ do: fc.constantFrom('close', 'reset', 'silence') }),
) as fc.Arbitrary<Step>

const peer = fc.record({
  name: fc.constantFrom<DnsAnswer>(
    ...Array<DnsAnswer>(12).fill(['127.0.0.1']),
    'silent',
    'missing',
    'failing',
    'garbage',
  ),
  isSecure: fc.boolean(),
  /** A peer with TLS that speaks something else. */
  speaksTls: fc.constantFrom(true, true, true, false),
  /** Before anything has been read. */
  early: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(step, { maxLength: 1 })),
  head: fc.option(fc.constantFrom(...heads), { nil: '' }),
  steps: fc.array(step, { maxLength: 4 }),
})
type Peer = typeof peer extends fc.Arbitrary<infer Value> ? Value : never

const client = fc.record({
  asks: fc.constantFrom('get', 'post', 'put', 'tunnel'),
  keepsAlive: fc.boolean(),
  redirectsMax: fc.constantFrom(0, 3),
  /** Gives up before the deadline. */
  givesUp: fc.constantFrom(true, false, false, false),
})
type Client = typeof client extends fc.Arbitrary<infer Value> ? Value : never

const deadlineMs = 120
/** Twelve conversations share one process, some with peers that write without end. */
const slackMs = 3000
const folder = mkdtempSync(join(tmpdir(), 'wagate-peers-'))
const answers = new Map<string, DnsAnswer>()
let dns: DnsServer
let names: HostNames
let secure: { key: Buffer; cert: Buffer }

beforeAll(async () => {
  const { keyFile, certificateFile } = makeCertificate('peer', folder)
  secure = { key: readFileSync(keyFile), cert: readFileSync(certificateFile) }
  dns = await startDnsServer((name) => answers.get(name) ?? 'missing')
  names = makeHostNames({ servers: [dns.address], lookupsOfOwnerMax: placesMax, lookupsMax: placesMax })
})
afterAll(() => {
  dns.close()
  rmSync(folder, { recursive: true })
})
const placesMax = 8
let peers = 0

/** False when it goes on without listening. */
function play(socket: Socket, steps: readonly Step[]): boolean {
  for (const each of steps) {
    if (each.do === 'write') socket.write(each.text, 'latin1')
    else if (each.do === 'close') socket.end()
    else if (each.do === 'reset') reset(socket)
    if (each.do === 'write') continue
    if (each.do === 'repeat' || each.do === 'drip') {
      const again = () => {
        if (!socket.writable) return
        const next = each.do === 'repeat' ? () => setImmediate(again) : () => setTimeout(again, 5)
        socket.write(each.text, 'latin1', next)
      }
      again()
    }
    return false
  }
  return true
}

/** A TLS socket has no reset. */
function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy()
  else socket.resetAndDestroy()
}

async function startPeer({ isSecure, speaksTls, early, head, steps }: Peer) {
  const answer: Step[] = [{ do: 'write', text: head }, ...steps]
  const open = new Set<Socket>()
  const converse = (socket: Socket) => {
    socket.on('error', () => undefined)
    if (play(socket, early)) socket.once('data', () => play(socket, answer))
    // A closed connection is only noticed when it is read.
    socket.resume()
  }
  const server: Server =
    isSecure && speaksTls
      ? createSecureServer(secure, converse).on('tlsClientError', () => undefined)
      : createServer(converse)
  server.on('connection', (socket: Socket) => open.add(socket.on('close', () => open.delete(socket))))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { open, server, port: (server.address() as AddressInfo).port }
}

function makeAgent({ isSecure }: Peer, { keepsAlive: keepAlive }: Client): Agent {
  const trusting = { ca: secure.cert, checkServerIdentity: () => undefined }
  return isSecure ? new SecureAgent({ keepAlive, ...trusting }) : new Agent({ keepAlive })
}

/** Those that wait for another request, and no others. */
function closeIdle({ freeSockets }: Agent): void {
  for (const socket of Object.values(freeSockets).flat()) socket?.destroy()
}

type Conversation = { url: URL; agent: Agent; given: Client }

async function converse({ url, agent, given }: Conversation): Promise<string> {
  const caller = new AbortController()
  if (given.givesUp) setTimeout(() => caller.abort(), deadlineMs / 3)
  const lookup = names.ofOwner('tenant')
  if (given.asks === 'tunnel') {
    const { signal, bound, release } = startDeadline(deadlineMs, caller.signal)
    const opening = openTunnel(
      { host: url.hostname, port: Number(url.port), authority: 'a.example:443', headers: {} },
      { lookup, signal },
    )
    const { socket } = await bound(opening, (late) => late.socket.destroy()).finally(release)
    socket.destroy()
    return 'tunnel'
  }
  const answer: IncomingMessage = await ask({
    url,
    method: given.asks.toUpperCase(),
    ...(given.asks === 'post' && { body: 'body' }),
    ...(given.asks === 'put' && { body: () => Readable.from(['a', 'b'.repeat(100_000)]) }),
    agent,
    lookup,
    deadlineMs,
    redirectsMax: given.redirectsMax,
    signal: caller.signal,
  })
  let size = 0
  for await (const chunk of answer) {
    size += chunk.length
    if (size > 1_000_000) break
  }
  return 'answer'
}

test('a conversation ends by its deadline whatever the peer does, and leaves nothing behind', async () => {
  const ends = new Map<string, number>()
  const conversation = async (peer: Peer, client: Client) => {
    peers += 1
    const host = `peer${peers}.example`
    answers.set(host, peer.name)
    const { open, server, port } = await startPeer(peer)
    const agent = makeAgent(peer, client)
    const url = new URL(`${peer.isSecure ? 'https' : 'http'}://${host}:${port}/`)
    const { result: end, awakeMs } = await timeAwake(() =>
      converse({ url, agent, given: client }).catch(
        (error: NodeJS.ErrnoException) => error.code ?? error.name,
      ),
    )
    expect(awakeMs, end).toBeLessThan(deadlineMs + slackMs)
    ends.set(end, (ends.get(end) ?? 0) + 1)
    // The peer closes none of them.
    const openNow = () => {
      closeIdle(agent)
      return open.size
    }
    await expect.poll(openNow, { interval: 2, timeout: 10_000 }).toBe(0)
    await new Promise((resolve) => server.close(resolve))
  }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(peer, client), { minLength: 1, maxLength: 12 }), async (drawn) => {
      await Promise.all(drawn.map((each) => conversation(...each)))
    }),
    { numRuns: 30, endOnFailure: true },
  )
  // Every place is free again: as many silent names as there are places find one at once.
  const last = Array.from({ length: placesMax }, (_, index) => `last${index}.example`)
  const ending = new AbortController()
  for (const name of last) {
    answers.set(name, 'silent')
    names.ofOwner('tenant')(ending.signal)(name, { all: true }, () => undefined)
  }
  await expect.poll(() => last.every((name) => dns.asked.has(name))).toBe(true)
  ending.abort()
  for (const end of ['answer', 'DeadlineExceeded']) expect(ends.get(end), end).toBeGreaterThan(0)
}, 30_000)
