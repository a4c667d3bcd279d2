import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Arrival = { recordedAtMs: number; arrivedAtMs: number }

export type WebhookTarget = {
  url: string
  /** By the id of the event; of a repeated one the first. */
  arrivals: Map<string, Arrival>
  close(): void
}

type EventBody = { event_id: string; recorded_at: string }

/** A web server that answers each request at once, or reads it and never answers. */
export async function openWebhookTarget(kind: 'healthy' | 'silent'): Promise<WebhookTarget> {
  const arrivals: WebhookTarget['arrivals'] = new Map()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (kind === 'healthy') receive(Buffer.concat(chunks), response)
    })
  })

  function receive(content: Buffer, response: ServerResponse): void {
    response.end()
    const arrivedAtMs = Date.now()
    const body = JSON.parse(content.toString()) as EventBody | { events: EventBody[] }
    for (const { event_id: id, recorded_at: recordedAt } of 'events' in body ? body.events : [body]) {
      if (!arrivals.has(id)) arrivals.set(id, { recordedAtMs: Date.parse(recordedAt), arrivedAtMs })
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    arrivals,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
