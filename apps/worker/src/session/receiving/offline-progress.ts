/** How many stanzas each request asks for, as Baileys does in its only one. */
export const partSize = 100

const quietMs = 1000
const quietMsMax = 30_000
/** After 15 s. */
const stalledRequests = 4

/** What was requested of the stanzas that waited for a device, and what has arrived. */
export class OfflineProgress {
  /** Baileys has made the first request. */
  #requested = partSize
  #arrived = 0
  /** Requests since the last stanza arrived. */
  #unanswered = 0

  noteArrival(): void {
    this.#arrived += 1
    this.#unanswered = 0
  }

  noteRequest(): void {
    this.#requested = this.#arrived + partSize
  }

  /** All that was requested has arrived. */
  isPartComplete(): boolean {
    return this.#arrived >= this.#requested
  }

  /** How long to wait for the next stanza before another request. */
  pauseMs(): number {
    return Math.min(quietMsMax, quietMs * 2 ** this.#unanswered)
  }

  /** Nothing arrived during a pause. Returns whether the server has stopped handing out stanzas. Says so once. */
  noteSilence(): boolean {
    this.#unanswered += 1
    return this.#unanswered === stalledRequests
  }
}
