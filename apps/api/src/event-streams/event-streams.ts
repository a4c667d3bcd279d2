import { setTimeout as delay } from 'node:timers/promises'
import type { EventFilter } from '@wagate/db/queries/events/event-feed'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { type EventPosition, formatEventId, parseEventId } from '@wagate/shared/event-ids'
import type { EventFeed } from '../events/event-feed.ts'
import { rateLimited } from '../limits/rate-limited.ts'
import type { MediaLinks } from '../received-media/media-links.ts'
import { toFrame } from './event-frame.ts'
import { EventListener } from './event-listener.ts'
import { type LiveReader, startLiveReader } from './live-reader.ts'

export type EventStreams = {
  /** Throws `rate_limited` when the account or the process has too many open streams. */
  open(accountId: number, options: StreamOptions): EventListener['readable']
  /** Of all accounts. */
  count(): number
}

type StreamOptions = {
  after: EventPosition
  filter: EventFilter
  connection: StreamConnection
}

/** Throws `rate_limited`. */
export type OpenStream = (connection: StreamConnection) => EventListener['readable']

type StreamConnection = {
  /** Ends the connection, also if the client reads nothing. */
  hangUp(): void
  /** Whether the credential of the request is still valid. */
  isAdmitted(): Promise<boolean>
}

type Options = {
  getLinker: MediaLinks['getLinker']
  closing: AbortSignal
  heartbeatMs: number
  onError(error: unknown): void
}

const streamsMax = { process: 2000, account: 250 }
const checkMs = 2000
const retryPause = { firstMs: 500, maxMs: 5000 }
const pageMax = 100

export function makeEventStreams(feed: EventFeed, options: Options): EventStreams {
  const { getLinker, closing, heartbeatMs, onError } = options
  const slots = makeFairSemaphore(streamsMax.process, { shareMax: streamsMax.account })
  const readers = new Map<number, LiveReader>()
  /** Of all open streams. */
  const admissions = new Map<EventListener, StreamConnection['isAdmitted']>()

  async function check(): Promise<void> {
    const checked = [...admissions].map(async ([listener, isAdmitted]) => {
      listener.beat(heartbeatMs)
      if (!(await isAdmitted())) listener.end()
    })
    await Promise.all(checked)
  }

  const checks = setInterval(makeSingleFlight(check, onError), Math.min(checkMs, heartbeatMs))
  checks.unref()
  closing.addEventListener('abort', () => {
    clearInterval(checks)
    for (const listener of admissions.keys()) listener.end()
  })

  function readerOf(accountId: number): LiveReader {
    const known = readers.get(accountId)
    if (known) return known
    const onIdle = () => void readers.delete(accountId)
    const reader = startLiveReader(accountId, { feed, getLinker, onError, onIdle })
    readers.set(accountId, reader)
    return reader
  }

  /** Reads for this listener alone until it has reached the present, and only as fast as its client. */
  async function catchUp(accountId: number, listener: EventListener): Promise<void> {
    const { over, filter } = listener
    let failures = 0
    for (let hasMore = true; hasMore && !over.aborted; ) {
      const after = parseEventId(listener.cursor)
      if (!after) throw new Error('The cursor of a stream is not the id of an event')
      try {
        const page = await feed.read(accountId, { after, limit: pageMax, ...filter }, over)
        const linkTo = await getLinker()
        for (const event of page.events) {
          const frame = toFrame(event, linkTo)
          listener.take([frame], frame.cursor)
          await listener.room()
        }
        listener.take([], formatEventId(page.next))
        hasMore = page.hasMore
        failures = 0
      } catch (error) {
        if (over.aborted) return
        onError(error)
        failures += 1
        await delay(growingPauseMs(failures, retryPause))
      }
    }
    if (!over.aborted) readerOf(accountId).add(listener)
  }

  return {
    open(accountId, { after, filter, connection: { hangUp, isAdmitted } }) {
      const release = slots.tryAcquire(String(accountId), 1)
      if (!release) {
        const sentence = `Too many streams are open. An account may have ${streamsMax.account} at each API process. Close one first.`
        throw rateLimited('event-streams', sentence, 10)
      }
      const onEnd = () => {
        admissions.delete(listener)
        release()
      }
      const listener = new EventListener({ cursor: formatEventId(after), filter, hangUp, onEnd })
      admissions.set(listener, isAdmitted)
      if (closing.aborted) listener.end()
      void catchUp(accountId, listener)
      return listener.readable
    },
    count: () => admissions.size,
  }
}
