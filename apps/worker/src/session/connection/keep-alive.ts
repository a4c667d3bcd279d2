import { setImmediate as turn } from 'node:timers/promises'
import { S_WHATSAPP_NET, type WASocket } from 'baileys'

/** For the answer to a ping. */
const answerMs = 4000
/** In each period. Connections of one group are pinged together, because each wake-up of an idle process costs CPU. */
const groups = 8
/** Pings that are sent in one turn of the event loop. */
const pingsMax = 32
/** A timer that is this late shows that the process was paused. */
const pausedMs = 1000

type Connection = {
  ping(): void
  onSilence(): void
  periodMs: number
  pingAtMs: number
  silentAtMs: number
}

/**
 * Pings WhatsApp every `periodMs`, because it closes idle connections. Calls `onSilence` once when nothing has been heard
 * for a period plus the time for an answer.
 */
export function keepAlive(
  sock: Pick<WASocket, 'ws' | 'sendNode' | 'generateMessageTag'>,
  periodMs: number,
  onSilence: () => void,
): { stop(): void } {
  let isReady = false
  const connection: Connection = {
    ping() {
      if (!isReady) return
      const attrs = { id: sock.generateMessageTag(), to: S_WHATSAPP_NET, type: 'get', xmlns: 'w:p' }
      // Fails without a connection, which then falls silent.
      sock.sendNode({ tag: 'iq', attrs, content: [{ tag: 'ping', attrs: {} }] }).catch(() => undefined)
    },
    onSilence,
    periodMs,
    pingAtMs: nextPingMs(periodMs),
    silentAtMs: performance.now() + periodMs + answerMs,
  }
  sock.ws.on('frame', (frame: unknown) => {
    // The frames of the handshake are bytes. The first stanza shows that it has ended.
    isReady ||= !(frame instanceof Uint8Array)
    connection.silentAtMs = performance.now() + periodMs + answerMs
  })
  connections.add(connection)
  if (dueMs(connection) < timerAtMs) startTimer()
  return {
    stop() {
      connections.delete(connection)
      if (connections.size === 0) startTimer()
    },
  }
}

/** All connections share one timer. */
const connections = new Set<Connection>()
let timer: NodeJS.Timeout | undefined
let timerAtMs = Number.POSITIVE_INFINITY

const dueMs = ({ pingAtMs, silentAtMs }: Connection) => Math.min(pingAtMs, silentAtMs)

/** At most a period from now, at the time of a group. */
function nextPingMs(periodMs: number): number {
  const groupMs = periodMs / groups
  return Math.floor((performance.now() + periodMs) / groupMs) * groupMs
}

function startTimer(): void {
  clearTimeout(timer)
  timerAtMs = Math.min(...[...connections].map(dueMs))
  // A timer may fire up to a millisecond early.
  if (connections.size > 0) timer = setTimeout(check, Math.ceil(timerAtMs - performance.now()) + 1)
}

async function check(): Promise<void> {
  const nowMs = performance.now()
  const wasPaused = nowMs - timerAtMs > pausedMs
  const silent = [...connections].filter(({ silentAtMs }) => silentAtMs <= nowMs)
  const toPing = [...connections].filter(({ pingAtMs }) => pingAtMs <= nowMs)
  if (wasPaused) for (const connection of silent) connection.silentAtMs = nowMs + answerMs
  // Frames that have arrived are read in this turn.
  await turn()
  try {
    for (const connection of silent) {
      if (connection.silentAtMs <= nowMs && connections.delete(connection)) connection.onSilence()
    }
    for (const [index, connection] of toPing.entries()) {
      connection.pingAtMs = nextPingMs(connection.periodMs)
      if (connections.has(connection)) connection.ping()
      if (index % pingsMax === pingsMax - 1) await turn()
    }
  } finally {
    startTimer()
  }
}
