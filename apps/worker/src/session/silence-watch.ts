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
  const stop = everySecond(() => {
    const nowMs = performance.now()
    // If this process itself was paused, frames that arrived in the meantime have not been read yet.
    if (nowMs - watchedAtMs > 2 * watchEveryMs) heardAtMs = nowMs
    watchedAtMs = nowMs
    if (nowMs - heardAtMs > keepAliveMs + silenceMarginMs) onSilence()
  })
  return { stop }
}

const checks = new Set<() => void>()
let timer: NodeJS.Timeout | undefined

/** Each timer wakes the process, so all connections share one. */
function everySecond(check: () => void): () => void {
  checks.add(check)
  timer ??= setInterval(() => {
    for (const each of checks) each()
  }, watchEveryMs)
  return () => {
    checks.delete(check)
    if (checks.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
