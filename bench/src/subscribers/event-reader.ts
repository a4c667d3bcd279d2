import { setTimeout as delay } from 'node:timers/promises'
import type { Gateway } from '@wagate/test-kit/load/pooled-client'
import { type EventBody, type ReadEvent, toReadEvent } from './read-event.ts'

export type EventReader = {
  /** In the order of the stream. */
  events: ReadEvent[]
  stop(): Promise<void>
}

type Page = { events: EventBody[]; next: string; has_more: boolean }

const pageMax = 100
const waitSeconds = 5
/** Between two pages when nothing more was stored. Without it, the reader would ask for each event alone. */
const pauseMs = 50

/** Reads the events that are stored from now on, as a subscriber does that polls `GET /events`. */
export async function startEventReader(gateway: Gateway): Promise<EventReader> {
  const events: ReadEvent[] = []
  let isStopped = false
  let after = await findLatestCursor(gateway)

  async function read(): Promise<void> {
    while (!isStopped) {
      const page = await readPage(gateway, { after, wait: waitSeconds })
      after = page.next
      const readAtMs = Date.now()
      for (const event of page.events) events.push(toReadEvent(event, readAtMs))
      if (!page.has_more) await delay(pauseMs)
    }
  }

  const reading = read()
  reading.catch(() => undefined)
  return {
    events,
    async stop() {
      isStopped = true
      await reading
    },
  }
}

export async function findLatestCursor(gateway: Gateway): Promise<string> {
  return (await readPage(gateway, { after: 'latest' })).next
}

/** All events of a type that are stored, in the order of the stream. */
export async function listEventsAfter(gateway: Gateway, cursor: string, type: string): Promise<ReadEvent[]> {
  const events: ReadEvent[] = []
  for (let after = cursor; ; ) {
    const page = await readPage(gateway, { after, types: type })
    const readAtMs = Date.now()
    for (const event of page.events) events.push(toReadEvent(event, readAtMs))
    if (!page.has_more) return events
    after = page.next
  }
}

type Query = { after: string; wait?: number; types?: string }

async function readPage(gateway: Gateway, query: Query): Promise<Page> {
  const { status, body } = await gateway.get('events', { ...query, limit: pageMax })
  if (status !== 200) throw new Error(`No events: ${JSON.stringify(body)}`)
  return body as Page
}
