import type { WASocket } from 'baileys'

/** Added to the keep-alive period, within which WhatsApp must have answered. */
const silenceMarginMs = 4000
/** A timer that is this late tells that the process was paused. */
const pausedMs = 1000

type Watched = { heardAtMs: number; silentMs: number; onSilence(): void }

/**
 * Calls `onSilence` once when nothing has arrived for too long. Baileys notices the silence as well, but then waits half a
 * minute for the other side to close the connection.
 */
export function watchSilence(
  { ws }: Pick<WASocket, 'ws'>,
  keepAliveMs: number,
  onSilence: () => void,
): { stop(): void } {
  const connection: Watched = {
    heardAtMs: performance.now(),
    silentMs: keepAliveMs + silenceMarginMs,
    onSilence,
  }
  ws.on('frame', () => {
    connection.heardAtMs = performance.now()
  })
  watched.add(connection)
  if (dueAtMs(connection) < timerAtMs) startTimer()
  return {
    stop() {
      watched.delete(connection)
      if (watched.size === 0) startTimer()
    },
  }
}

/** Each timer wakes the process, so all connections share one, which is due when the first may have been silent for too long. */
const watched = new Set<Watched>()
let timer: NodeJS.Timeout | undefined
let timerAtMs = Number.POSITIVE_INFINITY

const dueAtMs = ({ heardAtMs, silentMs }: Watched) => heardAtMs + silentMs

function startTimer(): void {
  clearTimeout(timer)
  timerAtMs = Math.min(...[...watched].map(dueAtMs))
  if (watched.size > 0) timer = setTimeout(check, Math.max(1, Math.ceil(timerAtMs - performance.now())))
}

function check(): void {
  const nowMs = performance.now()
  const wasPaused = nowMs - timerAtMs > pausedMs
  for (const connection of [...watched]) {
    // Frames that arrived during a pause have not been read yet.
    if (wasPaused) connection.heardAtMs = nowMs
    if (dueAtMs(connection) > nowMs) continue
    watched.delete(connection)
    connection.onSilence()
  }
  startTimer()
}
