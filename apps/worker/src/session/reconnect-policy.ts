import type { StatusReason } from '@wagate/shared/statuses'

/** What follows when WhatsApp closed a socket. `reason` is shown in the device's status until it is online again. */
export type AfterClose =
  | {
      kind: 'reconnect'
      delayMs: number
      reason: StatusReason | null
      /** False: the device is reported as disconnected at once, because it will be away for longer than the grace period. */
      hasGrace: boolean
      /** Reconnect only after Postgres has confirmed that this worker still owns the device. */
      needsLease?: true
    }
  /** The link no longer exists, so the credentials are worthless. */
  | { kind: 'wipe'; reason: StatusReason }

/** What has happened to the device since this worker became its owner. */
type Past = {
  /** Failures in a row. */
  failures: number
  /** How often another client logged in with the device's credentials. */
  replacements: number
  /** It logged in to remove itself from the phone. */
  isLoggingOut: boolean
}

/** The codes are Baileys' DisconnectReason. `random` is in [0, 1): full jitter spreads the logins of a worker's senders. */
export function afterClose(code: number | undefined, past: Past, random = Math.random()): AfterClose {
  switch (code) {
    case 515:
      return { kind: 'reconnect', delayMs: 0, reason: null, hasGrace: true }
    case 401:
      return { kind: 'wipe', reason: 'logged_out' }
    case 402:
      return pause(30, 'temporarily_banned')
    case 403:
      return refusal('blocked_by_whatsapp', past)
    case 406:
      return refusal('banned_by_whatsapp', past)
    case 405:
    case 409:
      return pause(10, 'client_outdated')
    case 411:
      return pause(10, 'multi_device_mismatch')
    case 440:
      // A former owner may finish its login after its lease has ended, but only once. Any other client would log in again, and
      // the two would replace each other endlessly.
      return past.replacements === 0
        ? { kind: 'reconnect', delayMs: 0, reason: 'connection_replaced', hasGrace: true, needsLease: true }
        : pause(1, 'connection_replaced')
    default:
      return {
        kind: 'reconnect',
        delayMs: backOffMs(past.failures, random),
        reason: 'connection_lost',
        hasGrace: true,
      }
  }
}

/** A link that WhatsApp refuses cannot be removed from here, so a new link need not wait for its removal. */
function refusal(reason: StatusReason, { isLoggingOut }: Past): AfterClose {
  return isLoggingOut ? { kind: 'wipe', reason } : pause(30, reason)
}

function pause(minutes: number, reason: StatusReason): AfterClose {
  return { kind: 'reconnect', delayMs: minutes * 60_000, reason, hasGrace: false }
}

/** True when WhatsApp ended the stream with an error. The excluded codes stand for a restart, another login, a lost link or the network. */
export function isStreamError(code: number | undefined): boolean {
  return code !== undefined && ![401, 402, 403, 405, 406, 408, 409, 411, 428, 440, 515].includes(code)
}

/** At most 1 s at first, at most 30 s from the sixth failure on. */
function backOffMs(failures: number, random: number): number {
  return Math.round(random * Math.min(30_000, 1000 * 2 ** failures))
}
