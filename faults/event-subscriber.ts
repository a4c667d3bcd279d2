import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { System } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import { Webhook } from 'standardwebhooks'
import { expect } from 'vitest'
import { note } from './figures.ts'
import { publicAddress } from './settings.ts'

type Arrival = { times: number; recordedAtMs: number; arrivedAtMs: number }

/** A program that follows the account through a webhook. It takes everything. */
export type EventSubscriber = {
  /** The cursor after the latest event. */
  latest(): Promise<string>
  /** Every event after the cursor arrives, signed and under its own id. */
  expectAllAfter(cursor: string, name: string): Promise<void>
  /** How long events that were recorded in this time took. */
  delaysMs(fromMs: number, toMs: number): number[]
  close(): void
}

type Page = { events: { event_id: string }[]; next: string; has_more: boolean }

const deliveredWithinMs = 90_000
const pageMax = 100

export async function openEventSubscriber({ gateway }: Pick<System, 'gateway'>): Promise<EventSubscriber> {
  const arrivals = new Map<string, Arrival>()
  const wrong: string[] = []
  let secret: Webhook | undefined

  async function take(request: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const id = String(request.headers['webhook-id'])
    try {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      )
      const event = secret?.verify(Buffer.concat(chunks).toString(), headers) as {
        event_id: string
        recorded_at: string
      }
      if (event.event_id !== id) wrong.push(`${event.event_id} as ${id}`)
      const times = (arrivals.get(id)?.times ?? 0) + 1
      const arrivedAtMs = arrivals.get(id)?.arrivedAtMs ?? Date.now()
      arrivals.set(id, { times, recordedAtMs: Date.parse(event.recorded_at), arrivedAtMs })
    } catch (error) {
      wrong.push(`${id}: ${error}`)
    }
  }

  const server = createServer((request, response) => {
    take(request).then(
      () => response.end(),
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://[${publicAddress}]:${port}/events`
  const { status, body } = await gateway.call('set-webhook', { url, name: 'subscriber' })
  if (status !== 200) throw new Error(`No webhook: ${JSON.stringify(body)}`)
  secret = new Webhook(String(body.secret))

  async function read(after: string): Promise<Page> {
    const { status, body } = await gateway.get('events', { limit: pageMax, after })
    if (status !== 200) throw new Error(`No events: ${JSON.stringify(body)}`)
    return body as Page
  }

  async function listIdsAfter(cursor: string): Promise<string[]> {
    const ids: string[] = []
    let page = await read(cursor)
    for (;;) {
      ids.push(...page.events.map(({ event_id }) => event_id))
      if (!page.has_more) return ids
      page = await read(page.next)
    }
  }

  return {
    latest: async () => (await read('latest')).next,
    async expectAllAfter(cursor, name) {
      const ids = await listIdsAfter(cursor)
      const missing = () => ids.filter((id) => !arrivals.has(id))
      const startedAt = performance.now()
      await until(
        'every event is delivered',
        { withinMs: deliveredWithinMs, everyMs: 100 },
        () => missing().length === 0,
      )
        // The list of them says more.
        .catch(() => undefined)
      note(name, {
        events: ids.length,
        'delivered again': ids.reduce((total, id) => total + (arrivals.get(id)?.times ?? 1) - 1, 0),
        'delivered after ms': performance.now() - startedAt,
      })
      expect(ids.length).toBeGreaterThan(0)
      expect(missing()).toEqual([])
      expect(wrong).toEqual([])
    },
    delaysMs: (fromMs, toMs) =>
      [...arrivals.values()].flatMap(({ recordedAtMs, arrivedAtMs }) =>
        recordedAtMs >= fromMs && recordedAtMs < toMs ? [arrivedAtMs - recordedAtMs] : [],
      ),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
