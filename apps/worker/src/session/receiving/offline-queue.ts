import type { BinaryNode, WASocket } from 'baileys'
import { OfflineProgress, partSize } from './offline-progress.ts'

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
