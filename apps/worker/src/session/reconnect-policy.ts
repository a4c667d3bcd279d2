import type { StatusReason } from '@wagate/shared/statuses'

/** What follows when WhatsApp closed a socket. `reason` is what the device's status says meanwhile. */
export type AfterClose =
  | {
      kind: 'reconnect'
      delayMs: number
      reason: StatusReason | null
      /** False: the device is reported as disconnected at once, because it will be away for longer than any grace. */
      hasGrace: boolean
      /** True: only after Postgres has confirmed that this worker still owns the device. */
      needsLease?: true
    }
  /** The link is gone: the credentials are worthless. */
  | { kind: 'wipe'; reason: StatusReason }

/** What happened to the device since this worker owns it. */
type Past = {
  /** Failures in a row. */
  failures: number
  /** How often another client logged in with the device's credentials. */
  replacements: number
  /** It logged in to remove itself from the phone. */
  isLoggingOut: boolean
}

/** The codes are Baileys' DisconnectReason. `random` is in [0, 1): full jitter, so that the senders of a worker do not come back in step. */
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
      // A former owner may finish its login after its lease has ended. Anybody else comes again, and a fight would go on forever.
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

/** A link that WhatsApp refuses cannot be removed from here: a new one need not wait for it. */
function refusal(reason: StatusReason, { isLoggingOut }: Past): AfterClose {
  return isLoggingOut ? { kind: 'wipe', reason } : pause(30, reason)
}

function pause(minutes: number, reason: StatusReason): AfterClose {
  return { kind: 'reconnect', delayMs: minutes * 60_000, reason, hasGrace: false }
}

/** The network, or WhatsApp for a reason of its own (a restart, another login, a lost link), has other codes. */
export function isStreamError(code: number | undefined): boolean {
  return code !== undefined && ![401, 402, 403, 405, 406, 408, 409, 411, 428, 440, 515].includes(code)
}

/** Up to 1 s at first, up to 30 s from the sixth failure on. */
function backOffMs(failures: number, random: number): number {
  return Math.round(random * Math.min(30_000, 1000 * 2 ** failures))
}
