import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

type ReceivedRequest = { headers: IncomingHttpHeaders; body: string; path: string }

export type WebhookTarget = {
  url: string
  port: number
  /** In the order of their ends. */
  requests: ReceivedRequest[]
  /** The ids of the events, without repeats of a request. */
  eventIds(): string[]
  /** Of all connections that were opened. */
  connections(): number
  /** Answers 200 by default. */
  answer: RequestListener
  close(): void
}

/** A web server that records the requests of webhooks. */
export async function openWebhookTarget(): Promise<WebhookTarget> {
  const requests: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      requests.push({ headers: request.headers, body, path: request.url ?? '' })
      target.answer(request, response)
    })
  })
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const target: WebhookTarget = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    requests,
    connections: () => connections,
    eventIds: () => [...new Set(requests.flatMap(({ body }) => eventIdsOf(body)))],
    answer: (_, response) => response.end('thanks'),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return target
}

function eventIdsOf(body: string): string[] {
  const { event_id, events = [] } = JSON.parse(body) as { event_id?: string; events?: { event_id: string }[] }
  return [...(event_id ? [event_id] : []), ...events.map((event) => event.event_id)]
}
