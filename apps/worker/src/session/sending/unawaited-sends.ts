import { DisconnectReason, type WASocket } from 'baileys'

/**
 * Baileys answers some stanzas in listeners whose result nobody awaits. When the connection ends before the answer has left,
 * their rejection says only that, and means nothing: the next connection gets the stanza again. Any other rejection stays
 * unhandled, because it is a bug. Call before other code listens.
 */
export function expectClosing({ ws }: Pick<WASocket, 'ws'>): void {
  for (const event of ws.eventNames()) {
    if (typeof event !== 'string' || !event.startsWith('CB:')) continue
    const listeners = ws.listeners(event)
    ws.removeAllListeners(event)
    for (const listener of listeners) {
      ws.on(event, async (...given: unknown[]) => {
        try {
          await Reflect.apply(listener, ws, given)
        } catch (error) {
          if (!isClosing(error, ws)) throw error
        }
      })
    }
  }
}

/** The connection ended before the send, in the middle of it, or before the answer to it. */
function isClosing(error: unknown, { isOpen }: { isOpen: boolean }): boolean {
  // Baileys rejects what waits for an answer with the code of the WebSocket's `close` event.
  if (typeof error === 'number') return !isOpen
  if (!(error instanceof Error)) return false
  const { code, output } = error as NodeJS.ErrnoException & { output?: { statusCode?: number } }
  if (output?.statusCode === DisconnectReason.connectionClosed) return true
  return !isOpen && (code !== undefined || output?.statusCode === DisconnectReason.timedOut)
}
