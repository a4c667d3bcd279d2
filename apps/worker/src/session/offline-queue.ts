import type { BinaryNode, WASocket } from 'baileys'

const batch = { tag: 'ib', attrs: {}, content: [{ tag: 'offline_batch', attrs: { count: '100' } }] }
const quietMs = 1000

/**
 * Baileys asks once for the stanzas that waited while the device was offline. A server that sends them in batches waits
 * for the next request: it is made when nothing has arrived for a while and the end was not announced.
 */
export function askForAllOffline({ ws, sendNode }: Pick<WASocket, 'ws' | 'sendNode'>): { stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let isExpected = false

  function wait(): void {
    if (!isExpected) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      sendNode(batch).catch(() => undefined)
      wait()
    }, quietMs)
  }

  function stop(): void {
    isExpected = false
    clearTimeout(timer)
  }

  ws.on('CB:ib,,offline_preview', () => {
    isExpected = true
    wait()
  })
  ws.on('CB:ib,,offline', stop)
  ws.on('frame', ({ attrs }: Partial<BinaryNode>) => {
    if (attrs?.offline !== undefined) wait()
  })
  return { stop }
}
