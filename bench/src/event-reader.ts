import { setTimeout as delay } from 'node:timers/promises'
import type { Gateway } from '@wagate/test-kit/load/pooled-client'

export type ReadEvent = {
  eventId: string
  type: string
  messageId: string
  /** When it was read, by `performance.now()`. */
  readAtMs: number
  message: { wa_message_id: string; sender: string; message: string | null } | null
}

export type EventReader = {
  /** In the order of the stream. */
  events: ReadEvent[]
  stop(): Promise<void>
}

const pageMax = 100
const waitSeconds = 5
/** Between two pages when nothing more was stored. Without it, the reader would ask for each event alone. */
const pauseMs = 50

/** Reads the events that are stored from now on, as a subscriber does that polls `GET /events`. All types by default. */
export async function startEventReader(gateway: Gateway, types?: string): Promise<EventReader> {
  const events: ReadEvent[] = []
  let isStopped = false
  let after = await readPage('latest', 0).then(({ next }) => next)

  async function readPage(from: string, wait: number) {
    const { status, body } = await gateway.get('events', {
      after: from,
      limit: pageMax,
      wait,
      ...(types && { types }),
    })
    if (status !== 200) throw new Error(`No events: ${JSON.stringify(body)}`)
    return body as { events: EventBody[]; next: string; has_more: boolean }
  }

  async function read(): Promise<void> {
    while (!isStopped) {
      const page = await readPage(after, waitSeconds)
      after = page.next
      const readAtMs = performance.now()
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

type EventBody = {
  event_id: string
  type: string
  data: { message_id: string; message: ReadEvent['message'] }
}

function toReadEvent({ event_id: eventId, type, data }: EventBody, readAtMs: number): ReadEvent {
  return { eventId, type, messageId: data.message_id, readAtMs, message: data.message }
}
