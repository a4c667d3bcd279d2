/**
 * What follows when WhatsApp closed a socket. `reason` is what the device's status says meanwhile; without a grace
 * the device is reported as disconnected at once.
 */
export type AfterClose =
  | { kind: 'reconnect'; delayMs: number; reason: string | null; hasGrace?: false }
  /** The link is gone: the credentials are worthless. */
  | { kind: 'wipe'; reason: string }

const minuteMs = 60_000

/**
 * The codes are Baileys' DisconnectReason. `attempt` counts the failures in a row, from 0; `random` is in
 * [0, 1): full jitter, so that the senders of a worker do not come back in step.
 */
export function afterClose(code: number | undefined, attempt: number, random = Math.random()): AfterClose {
  switch (code) {
    case 515:
      return { kind: 'reconnect', delayMs: 0, reason: null }
    case 401:
      return { kind: 'wipe', reason: 'logged_out' }
    case 440:
      // Somebody else logged in with these credentials. Fighting back would go on for ever.
      return { kind: 'reconnect', delayMs: minuteMs, reason: 'connection_replaced' }
    case 403:
      return { kind: 'reconnect', delayMs: 30 * minuteMs, reason: 'blocked_by_whatsapp', hasGrace: false }
    case 405:
      return { kind: 'reconnect', delayMs: 10 * minuteMs, reason: 'client_outdated' }
    case 411:
      return { kind: 'reconnect', delayMs: 10 * minuteMs, reason: 'multi_device_mismatch' }
    default:
      return { kind: 'reconnect', delayMs: backOffMs(attempt, random), reason: 'connection_lost' }
  }
}

/** Up to 1 s at first, up to 30 s from the sixth failure on. */
function backOffMs(attempt: number, random: number): number {
  return Math.round(random * Math.min(30_000, 1000 * 2 ** attempt))
}
