import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { startDeadline } from './deadline.ts'
import type { MakeLookup } from './host-names.ts'

export type HttpRequest = {
  url: URL
  method?: string
  headers?: OutgoingHttpHeaders
  /** A file is opened for each attempt. */
  body?: string | (() => Readable)
  /** A new connection by default, so that its address is checked. */
  agent?: http.Agent
  /** The system resolver by default, which is for names that no caller chooses. */
  lookup?: MakeLookup | undefined
  /** In all: look-up, connection, redirects, and the answer to its last byte. */
  deadlineMs: number
  /** Without any data in either direction. */
  idleMs?: number
  signal?: AbortSignal | null | undefined
  /** Followed at most, none by default. An answer that would be one more is an error. */
  redirectsMax?: number
  /** Throws to refuse an address before it is asked, or redirected to. */
  admit?(url: URL): void
}

export type Tunnel = { answer: IncomingMessage; socket: Socket; head: Buffer }

/** Some services send a few, such as 103 Early Hints. */
const interimMax = 16

/**
 * The one way to ask an HTTP server. Whatever the peer does, the promise settles by the deadline, with DeadlineExceeded if
 * that ended it, and so does the reading of the answer. Connections are closed then. The caller reads the answer to its end
 * or destroys it.
 */
export async function ask(given: HttpRequest): Promise<IncomingMessage> {
  const { signal, bound, release } = startDeadline(given.deadlineMs, given.signal)
  try {
    const answer = await bound(follow(given, signal), (late) => late.destroy())
    const end = () => answer.destroy(signal.reason)
    signal.addEventListener('abort', end, { once: true })
    // It may have ended already.
    if (answer.closed) release()
    else answer.once('close', release)
    return answer
  } catch (error) {
    release()
    throw error
  }
}

/** A connection through an HTTP proxy. The answer may have any status. `head`: what came behind it. */
export async function openTunnel(
  options: { host: string; port: number; authority: string; headers: OutgoingHttpHeaders },
  { lookup, signal }: { lookup: MakeLookup; signal: AbortSignal },
): Promise<Tunnel> {
  const { authority, ...connection } = options
  const request = http.request({
    ...connection,
    method: 'CONNECT',
    path: authority,
    agent: false,
    lookup: lookup(signal),
  })
  destroyAtEnd(request, signal)
  const opening = new Promise<Tunnel>((resolve, reject) => {
    request.on('connect', (answer, socket: Socket, head) => resolve({ answer, socket, head }))
    rejectWithoutAnswer(request, reject)
  })
  request.end()
  return opening
}

async function follow(given: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const { redirectsMax = 0 } = given
  let target = given.url
  for (let redirects = 0; redirects <= redirectsMax; redirects++) {
    given.admit?.(target)
    const answer = await send({ ...given, url: target }, signal)
    const location = redirectsMax > 0 ? redirectTarget(answer) : undefined
    if (location === undefined) return answer
    answer.destroy()
    target = new URL(location, target)
  }
  throw withCode('EPROTO', 'The peer redirects without an end')
}

function redirectTarget({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  return statusCode >= 300 && statusCode < 400 ? headers.location : undefined
}

async function send(given: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
  signal.throwIfAborted()
  const { url, method = 'GET', headers = {}, body, agent = false, lookup, idleMs } = given
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method,
    headers,
    agent,
    ...(lookup && { lookup: lookup(signal) }),
    ...(idleMs && { timeout: idleMs }),
  })
  destroyAtEnd(request, signal)
  // An agent has a limit for idle connections, which also makes requests emit this.
  if (idleMs)
    request.on('timeout', () => request.destroy(withCode('ETIMEDOUT', 'The peer did not answer in time')))
  const answer = answerTo(request)
  if (typeof body !== 'function') request.end(body)
  try {
    // An answer that comes before the end of the file says why.
    if (typeof body === 'function') await Promise.race([answer, pipeline(body(), request)])
    return await answer
  } catch (error) {
    // The peer has closed an idle connection at the moment at which it was used again.
    if (request.reusedSocket && hasCode(error, 'ECONNRESET') && !signal.aborted) return send(given, signal)
    throw error
  }
}

function destroyAtEnd(request: ClientRequest, signal: AbortSignal): void {
  const end = () => request.destroy(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  request.on('close', () => signal.removeEventListener('abort', end))
}

/** Rejects as soon as there will be none, also where Node reports no error. */
function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve)
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(withCode('EPROTO', 'The peer has switched protocols'))
    })
    rejectWithoutAnswer(request, reject)
  })
}

function rejectWithoutAnswer(request: ClientRequest, reject: (error: Error) => void): void {
  let interim = 0
  request.on('information', () => {
    interim += 1
    if (interim > interimMax)
      request.destroy(withCode('EPROTO', 'The peer sends interim answers without a final one'))
  })
  request.on('error', reject)
  request.on('close', () => reject(withCode('ECONNRESET', 'The connection was closed without an answer')))
}

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

const hasCode = (error: unknown, code: string) =>
  error instanceof Error && 'code' in error && error.code === code
