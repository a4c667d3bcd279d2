import type { WASocket } from 'baileys'

/** Added to the keep-alive period, within which WhatsApp must have answered. */
const silenceMarginMs = 4000
const watchEveryMs = 1000

/**
 * Calls `onSilence` when nothing has arrived for too long, every second until it is stopped. Baileys notices the silence
 * as well, but then waits half a minute for the other side to close the connection.
 */
export function watchSilence(
  { ws }: Pick<WASocket, 'ws'>,
  keepAliveMs: number,
  onSilence: () => void,
): { stop(): void } {
  let heardAtMs = performance.now()
  let watchedAtMs = heardAtMs
  ws.on('frame', () => {
    heardAtMs = performance.now()
  })
  const timer = setInterval(() => {
    const nowMs = performance.now()
    // If this process itself was paused, frames that arrived in the meantime have not been read yet.
    if (nowMs - watchedAtMs > 2 * watchEveryMs) heardAtMs = nowMs
    watchedAtMs = nowMs
    if (nowMs - heardAtMs > keepAliveMs + silenceMarginMs) onSilence()
  }, watchEveryMs)
  return { stop: () => clearInterval(timer) }
}
