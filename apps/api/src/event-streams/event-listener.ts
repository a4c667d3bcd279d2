import type { EventFilter } from '@wagate/db/queries/events/event-feed'
import { type EventFrame, opening, toHeartbeat } from './event-frame.ts'
import { makeStreamBody } from './stream-body.ts'

type Options = {
  /** It gets the events after this one. */
  cursor: string
  filter: EventFilter
  /** Ends the connection, also if the client reads nothing. */
  hangUp(): void
  onEnd(): void
}

/** Time for what is written to arrive. */
const farewellMs = 1000

/** One open stream. Its cursor decides which events it still gets, from whichever read they come. */
export class EventListener {
  readonly #options: Options
  readonly #body = makeStreamBody(() => this.#finish())
  readonly #over = new AbortController()
  #cursor: string
  #pushedAtMs = performance.now()

  constructor(options: Options) {
    this.#options = options
    this.#cursor = options.cursor
    this.#push(opening)
  }

  get readable() {
    return this.#body.readable
  }

  get filter() {
    return this.#options.filter
  }

  get cursor() {
    return this.#cursor
  }

  /** Aborted when the stream has ended. */
  get over(): AbortSignal {
    return this.#over.signal
  }

  /** Resolves when the client has read most of what it got. */
  room(): Promise<void> {
    return this.#body.room()
  }

  /** Takes a page of events that begins at or before its cursor and reaches until `next`. */
  take(frames: EventFrame[], next: string): void {
    for (const frame of frames) {
      if (frame.cursor > this.#cursor && this.#wants(frame)) this.#push(frame.bytes)
    }
    if (next > this.#cursor) this.#cursor = next
  }

  beat(everyMs: number): void {
    if (performance.now() - this.#pushedAtMs >= everyMs) this.#push(toHeartbeat(this.#cursor))
  }

  end(): void {
    this.#body.end()
    setTimeout(this.#options.hangUp, farewellMs).unref()
    this.#finish()
  }

  #wants({ type, deviceId }: EventFrame): boolean {
    const { types, deviceId: wanted } = this.filter
    return (types === undefined || types.includes(type)) && (wanted === undefined || deviceId === wanted)
  }

  #push(chunk: Uint8Array): void {
    if (this.over.aborted) return
    this.#pushedAtMs = performance.now()
    if (this.#body.push(chunk)) return
    // The client resumes after the last event that it has read.
    this.#options.hangUp()
    this.#body.end()
    this.#finish()
  }

  #finish(): void {
    if (this.over.aborted) return
    this.#over.abort()
    this.#options.onEnd()
  }
}
