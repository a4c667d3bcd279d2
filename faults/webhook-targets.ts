import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { publicAddress } from './settings.ts'

/** When requests with this `webhook-id` came. */
type Attempts = Map<string, number[]>

export type WebhookTargets = {
  url(path: string): string
  /** By the path. */
  attempts: Record<string, Attempts>
  requests(path: string): number
  /** The number of requests to the private address. */
  secretsGiven(): number
  /** Written to the socket of the endless answer. */
  pouredBytes(): number
  close(): void
}

/** What is known of each in the end. */
export const failingTargets = {
  '/refuses': 'failing',
  '/hangs': 'failing',
  '/redirects': 'failing',
  '/breaks-off': 'failing',
  '/is-gone': 'gone',
}
/** Takes everything, and never ends its answer. */
export const pouringTarget = '/pours'
/** Fails now and then, each time the first attempt only. */
export const unreliableTarget = '/forgets'

export const targetPaths = [...Object.keys(failingTargets), pouringTarget, unreliableTarget]

const gibibyte = 2 ** 30

export async function openWebhookTargets(): Promise<WebhookTargets> {
  const attempts: Record<string, Attempts> = Object.fromEntries(targetPaths.map((path) => [path, new Map()]))
  let secretsGiven = 0
  let pouredBytes = 0

  function pour(response: ServerResponse): void {
    const chunk = Buffer.alloc(65_536)
    while (!response.destroyed && pouredBytes < gibibyte) {
      pouredBytes += chunk.length
      if (!response.write(chunk)) break
    }
    response.once('drain', () => pour(response))
  }

  const pages: Record<string, RequestListener> = {
    '/refuses': (_, response) => response.writeHead(500).end(),
    '/hangs': () => undefined,
    '/redirects': (_, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${port}/secret` }).end(),
    '/is-gone': (_, response) => response.writeHead(410).end(),
    '/breaks-off': (_, response) => response.destroy(),
    [pouringTarget]: (_, response) => pour(response),
    '/secret': (_, response) => {
      secretsGiven += 1
      response.end()
    },
    [unreliableTarget]: (request, response) => {
      const id = String(request.headers['webhook-id'])
      const isFirst = attempts[unreliableTarget]?.get(id)?.length === 1
      response.writeHead(isFirst && isForgotten(id) ? 503 : 204).end()
    },
  }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const id = String(request.headers['webhook-id'])
    attempts[path]?.set(id, [...(attempts[path].get(id) ?? []), Date.now()])
    request.resume().on('end', () => pages[path]?.(request, response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: (path) => `http://[${publicAddress}]:${port}${path}`,
    attempts,
    requests: (path) => [...(attempts[path]?.values() ?? [])].flat().length,
    secretsGiven: () => secretsGiven,
    pouredBytes: () => pouredBytes,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** One event in eight: so many in a row that the target counts as down are next to impossible. */
export function isForgotten(id: string): boolean {
  return (createHash('sha256').update(id).digest()[0] ?? 0) < 32
}
