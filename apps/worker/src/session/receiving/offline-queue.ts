import type { BinaryNode, WASocket } from 'baileys'

/** How many stanzas each request asks for, as Baileys does in its only one. */
export const partSize = 100

const request = {
  tag: 'ib',
  attrs: {},
  content: [{ tag: 'offline_batch', attrs: { count: partSize.toString() } }],
}

export type OfflineQueue = {
  /** Stanzas were stored: call when there may be room for more. */
  proceed(): void
  stop(): void
}

type Hooks = {
  /** What has arrived is not stored yet while this is false: more would only wait in memory. */
  hasRoom(): boolean
  /** The server has not sent more for a while, although it was asked for. */
  onStalled(): void
}

/**
 * Baileys asks once for the stanzas that waited while the device was offline. A server that sends them in parts waits for
 * the next request: it is made when a part is complete and most of it is stored, and when nothing has arrived for a while
 * and the end was not announced.
 */
export function askForAllOffline(
  { ws, sendNode }: Pick<WASocket, 'ws' | 'sendNode'>,
  { hasRoom, onStalled }: Hooks,
): OfflineQueue {
  let timer: NodeJS.Timeout | undefined
  let progress: OfflineProgress | undefined

  function waitForNext(expected: OfflineProgress): void {
    clearTimeout(timer)
    timer = setTimeout(() => handleSilence(expected), expected.pauseMs())
  }

  function handleSilence(expected: OfflineProgress): void {
    if (hasRoom()) {
      if (expected.noteSilence()) onStalled()
      ask(expected)
    }
    waitForNext(expected)
  }

  function ask(expected: OfflineProgress): void {
    expected.noteRequest()
    sendNode(request).catch(() => undefined)
  }

  function proceed(): void {
    if (!progress?.isPartComplete() || !hasRoom()) return
    ask(progress)
    waitForNext(progress)
  }

  function stop(): void {
    progress = undefined
    clearTimeout(timer)
  }

  ws.on('CB:ib,,offline_preview', () => {
    progress = new OfflineProgress()
    waitForNext(progress)
  })
  ws.on('CB:ib,,offline', stop)
  ws.on('frame', ({ attrs }: Partial<BinaryNode>) => {
    if (!progress || attrs?.offline === undefined) return
    progress.noteArrival()
    waitForNext(progress)
    proceed()
  })
  return { proceed, stop }
}

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
