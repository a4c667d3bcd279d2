import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type EventBody, type ReadEvent, toReadEvent } from './read-event.ts'

export type WebhookTarget = {
  url: string
  /** In the order of their first arrivals. */
  events: ReadEvent[]
  /** Events that came once more. */
  countRepeated(): number
  close(): void
}

/** A web server that answers each request at once, or reads it and never answers. */
export async function openWebhookTarget(kind: 'healthy' | 'silent'): Promise<WebhookTarget> {
  const events: ReadEvent[] = []
  const known = new Set<string>()
  let repeated = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (kind === 'healthy') receive(Buffer.concat(chunks), response)
    })
  })

  function receive(content: Buffer, response: ServerResponse): void {
    response.end()
    const readAtMs = Date.now()
    const body = JSON.parse(content.toString()) as EventBody | { events: EventBody[] }
    for (const event of 'events' in body ? body.events : [body]) {
      if (known.has(event.event_id)) repeated += 1
      else events.push(toReadEvent(event, readAtMs))
      known.add(event.event_id)
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    events,
    countRepeated: () => repeated,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
