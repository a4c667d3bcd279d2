import { randomUUID } from 'node:crypto'
import { createServer, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { AppError } from '../errors/app-error.ts'
import { failureBody } from './failure-body.ts'

type Fetch = (request: Request) => Response | Promise<Response>

/** Header and request timeouts, and how often Node checks them. */
const defaultTimeouts = { headersMs: 20_000, requestMs: 60_000, checkEveryMs: 5000 }

const lingerMs = 1000

const notHttp = () => new AppError('invalid_parameter', 'The request is not valid HTTP.')

/** Answers in JSON even when a request never reaches the app: oversized headers, timeouts, invalid HTTP or host. */
export function makeServer(fetch: Fetch, { headersMs, requestMs, checkEveryMs } = defaultTimeouts): Server {
  const listener = getRequestListener(fetch, {
    // Used when a client sends no host; nothing depends on it.
    hostname: 'localhost',
    errorHandler: () => {
      const requestId = randomUUID()
      return new Response(JSON.stringify(failureBody(notHttp(), requestId)), {
        status: 400,
        headers: jsonHeaders(requestId),
      })
    },
  })
  const server = createServer(
    {
      maxHeaderSize: 64 * 1024,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkEveryMs,
      // Above the idle timeout of common load balancers, so that they close idle connections first.
      keepAliveTimeout: 65_000,
      requireHostHeader: false,
    },
    listener,
  )
  server.on('checkExpectation', listener)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    socket.end(rawAnswer(failureOf(error.code)))
    // Time to read the answer. A client that keeps its side open would count against CONNECTIONS_MAX for ever.
    setTimeout(() => socket.destroy(), lingerMs).unref()
  })
  return server
}

function failureOf(code: string | undefined): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large', 'The headers or the URL are larger than 64 KiB.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request did not arrive completely in time.')
    case 'HPE_INVALID_URL':
      return new AppError(
        'invalid_parameter',
        'The URL has a space or a character beyond ASCII. Encode it in UTF-8: a space as %20, é as %C3%A9.',
      )
    default:
      return notHttp()
  }
}

function rawAnswer(failure: AppError): string {
  const requestId = randomUUID()
  const body = JSON.stringify(failureBody(failure, requestId))
  const headers = {
    ...jsonHeaders(requestId),
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}`, ...lines, '', body].join('\r\n')
}

function jsonHeaders(requestId: string): Record<string, string> {
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
}
