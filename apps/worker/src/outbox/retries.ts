import { growingPauseMs, type PauseRange } from '@wagate/runtime/growing-pause'
import type { Setback } from '@wagate/shared/timeline-marks'

/** What a device remembers about messages that have to be sent again. Outlives a connection. */
export type Retries = {
  /** Ms until the message may be tried again: 0 for one that had no setback. */
  waitMs(id: string): number
  /** It was sent before, without an answer. */
  isRetry(id: string): boolean
  /** How many connections in a row WhatsApp ended while the message was in flight. */
  streamEnds(id: string): number
  /** What kept it from being sent last time, as a sentence. */
  setbackOf(id: string): string | null
  /** For how long it could be neither prepared nor sent, for reasons of its own: 0 while nothing is wrong with it. */
  failingMs(message: Failing): number
  note(message: Failing, setback: Setback, details?: SetbackDetails): Noted
  /** It ended too many connections and is not sent again. */
  isHopeless(id: string): boolean
  forget(id: string): void
}

/** `failingMs`: as it was when the message was read, so that the next owner goes on counting. */
type Failing = { id: string; failingMs?: number }

/** `pauseMs`: until it is tried again. `isFailing`: the reason is its own. */
type Noted = { sentence: string; pauseMs: number; isFailing: boolean }

export type SetbackDetails = {
  /** The connection had worked until the message was sent. */
  isBlamed?: boolean
  sentence?: string
  /** The pause is no shorter than this. */
  leastMs?: number
  /** The pause is no longer than this, whatever else is said. */
  mostMs?: number
}

type Entry = {
  setbacks: number
  isRetry: boolean
  streamEnds: number
  blames: number
  /** Undefined: only its connections ended. */
  failingSinceMs: number | undefined
  notBeforeMs: number
  sentence: string
}

/** How many of these setbacks are followed by an immediate retry. */
const freeSetbacks: Partial<Record<Setback, number>> = { unanswered: 1, disconnected: 1, stream_ended: 1 }
const pauses: Record<Setback, PauseRange> = {
  unanswered: { firstMs: 5000, maxMs: 600_000 },
  disconnected: { firstMs: 1000, maxMs: 60_000 },
  stream_ended: { firstMs: 2000, maxMs: 600_000 },
  refused: { firstMs: 2000, maxMs: 600_000 },
  send_failed: { firstMs: 500, maxMs: 30_000 },
  unprepared: { firstMs: 1000, maxMs: 300_000 },
}
/** These say nothing about the message itself. */
const ofConnection: Setback[] = ['disconnected', 'stream_ended']
const sentences: Record<Setback, string> = {
  unanswered: 'WhatsApp did not acknowledge it.',
  disconnected: 'The connection ended before WhatsApp acknowledged it.',
  stream_ended: 'WhatsApp ended the connection when it was sent.',
  refused: 'WhatsApp refused it for the time being.',
  send_failed: 'The gateway could not send it.',
  unprepared: 'Its media could not be prepared.',
}
const blamesMax = 5
/** The oldest entries are dropped first, so their messages are merely tried sooner. */
const entriesMax = 10_000

type Clock = { nowMs(): number; random(): number }

export function makeRetries(clock: Clock = { nowMs: () => performance.now(), random: Math.random }): Retries {
  const entries = new Map<string, Entry>()

  return {
    waitMs: (id) => Math.max(0, (entries.get(id)?.notBeforeMs ?? 0) - clock.nowMs()),
    isRetry: (id) => entries.get(id)?.isRetry ?? false,
    streamEnds: (id) => entries.get(id)?.streamEnds ?? 0,
    setbackOf: (id) => entries.get(id)?.sentence ?? null,
    isHopeless: (id) => (entries.get(id)?.blames ?? 0) >= blamesMax,
    failingMs({ id, failingMs = 0 }) {
      const sinceMs = entries.get(id)?.failingSinceMs
      return sinceMs === undefined ? failingMs : clock.nowMs() - sinceMs
    },
    note(message, setback, details = {}) {
      const { isBlamed = false, sentence = sentences[setback], leastMs = 0, mostMs = Infinity } = details
      const { id, failingMs = 0 } = message
      const before = entries.get(id)
      const isFailing = !ofConnection.includes(setback)
      const setbacks = (before?.setbacks ?? 0) + 1
      const isStreamEnd = setback === 'stream_ended'
      const growingMs = growingPauseMs(
        setbacks - (freeSetbacks[setback] ?? 0),
        pauses[setback],
        clock.random(),
      )
      const pauseMs = Math.min(Math.max(growingMs, leastMs), mostMs)
      entries.delete(id)
      entries.set(id, {
        setbacks,
        isRetry: setback !== 'unprepared',
        streamEnds: (before?.streamEnds ?? 0) + Number(isStreamEnd),
        blames: (before?.blames ?? 0) + Number(isStreamEnd && isBlamed),
        failingSinceMs: before?.failingSinceMs ?? (isFailing ? clock.nowMs() - failingMs : undefined),
        notBeforeMs: clock.nowMs() + pauseMs,
        sentence,
      })
      const [oldest] = entries.keys()
      if (entries.size > entriesMax && oldest !== undefined) entries.delete(oldest)
      return { sentence, pauseMs, isFailing }
    },
    forget: (id) => void entries.delete(id),
  }
}
