import { banCauses, type StatusReason } from '@wagate/shared/statuses'
import type { SocketEnd } from './socket-end.ts'

/** What follows when a socket was closed. `reason` is shown in the device's status until it is online again. */
export type AfterClose =
  | {
      kind: 'reconnect'
      delayMs: number
      reason: StatusReason | null
      detail?: string
      /** False: the device is reported as disconnected at once, because it will be away for longer than the grace period. */
      hasGrace: boolean
      /** Reconnect only after Postgres has confirmed that this worker still owns the device. */
      needsLease?: true
    }
  /** No login, on any worker, until one of the ends of the block. */
  | { kind: 'block'; reason: StatusReason; detail: string | null; ends: BlockEnds }
  /** The link no longer exists, so the credentials are worthless. */
  | { kind: 'wipe'; reason: StatusReason }

type BlockEnds = {
  afterMs: number | null
  /** The user asks for another state of the device: a logout, or a new QR code by force. */
  withNextStep: boolean
  withNewVersion: boolean
}

/** What has happened to the device since this worker became its owner. */
type Past = {
  /** Connections in a row that did not work. */
  failures: number
  /** Of these, the ones that WhatsApp refused. */
  refusals: number
  /** How often another client logged in with the device's credentials. */
  replacements: number
  /** It logged in to remove itself from the phone. */
  isLoggingOut: boolean
}

const hourMs = 3_600_000
const banMsWithoutExpiry = 6 * hourMs
/** WhatsApp gives whole seconds. */
const banMarginMs = 1000
/** A refusal that is a mistake of WhatsApp's is noticed after this time. */
const outdatedMs = hourMs
const mismatchMs = hourMs
const graceMs = 60_000

/** The codes are those of WhatsApp and Baileys' DisconnectReason. `random` is in [0, 1): jitter spreads a worker's logins. */
export function afterClose(end: SocketEnd, past: Past, random = Math.random()): AfterClose {
  const { code } = end
  if (end.proxyError) return { ...lost(past, random), ...proxyFailed(end.proxyError) }
  if (end.isAckMissing || code === undefined || code === 408 || code === 428) return lost(past, random)
  if (!end.isByWhatsApp) return unavailable(code, past, random)
  switch (code) {
    case 515:
      return { kind: 'reconnect', delayMs: 0, reason: null, hasGrace: true }
    case 401:
    case 516:
      return { kind: 'wipe', reason: 'logged_out' }
    case 402:
      return ban(end.ban, past, random)
    case 403:
      return refusal('blocked_by_whatsapp', end.violation, null, past)
    case 406:
      return refusal('banned_by_whatsapp', end.violation, null, past)
    case 411:
      return refusal('multi_device_mismatch', null, mismatchMs, past)
    case 405:
    case 409: {
      const ends = { afterMs: outdatedMs, withNextStep: true, withNewVersion: true }
      return { kind: 'block', reason: 'client_outdated', detail: String(code), ends }
    }
    case 440:
      // A former owner may finish its login after its lease has ended, but only once. Any other client would log in again, and
      // the two would replace each other endlessly.
      return past.replacements === 0
        ? { kind: 'reconnect', delayMs: 0, reason: 'connection_replaced', hasGrace: true, needsLease: true }
        : { kind: 'reconnect', delayMs: 60_000, reason: 'connection_replaced', hasGrace: false }
    default:
      return unavailable(code, past, random)
  }
}

/** The number is banned, so a logout or a new link of the device does not end it. */
function ban({ code, forMs }: SocketEnd['ban'], past: Past, random: number): AfterClose {
  const afterMs = forMs === null ? banMsWithoutExpiry : forMs + banMarginMs
  return {
    kind: 'block',
    reason: 'temporarily_banned',
    detail: code === null ? null : (banCauses[code] ?? `code_${code}`),
    ends: {
      afterMs: Math.max(afterMs, refusalPauseMs(past, random)),
      withNextStep: false,
      withNewVersion: false,
    },
  }
}

/** A link that WhatsApp refuses cannot be removed from here, so a new link need not wait for its removal. */
function refusal(
  reason: StatusReason,
  detail: string | null,
  afterMs: number | null,
  past: Past,
): AfterClose {
  if (past.isLoggingOut) return { kind: 'wipe', reason }
  return { kind: 'block', reason, detail, ends: { afterMs, withNextStep: true, withNewVersion: false } }
}

/** The network comes back without notice: at most 1 s at first, at most 30 s from the sixth failure on. */
function lost({ failures }: Past, random: number): AfterClose {
  const delayMs = Math.round(random * Math.min(30_000, 1000 * 2 ** failures))
  return { kind: 'reconnect', delayMs, reason: 'connection_lost', hasGrace: true }
}

function proxyFailed({ detail }: NonNullable<SocketEnd['proxyError']>) {
  return { reason: 'proxy_failed' as const, ...(detail !== null && { detail }) }
}

function unavailable(code: number, past: Past, random: number): AfterClose {
  const delayMs = refusalPauseMs(past, random)
  const hasGrace = delayMs < graceMs
  return { kind: 'reconnect', delayMs, reason: 'whatsapp_unavailable', detail: String(code), hasGrace }
}

/** At most 1 s at first, at most 20 minutes from the twelfth refusal on, and at least half of that. */
function refusalPauseMs({ refusals }: Past, random: number): number {
  return Math.round((1 - random / 2) * Math.min(20 * 60_000, 1000 * 2 ** refusals))
}

/**
 * True when WhatsApp ended the stream with an error that a message may have caused. The excluded codes stand for a
 * restart, another login, a lost link, a refused sender or its rate.
 */
export function isStreamError({ code, isByWhatsApp, isAckMissing }: SocketEnd): boolean {
  if (code === undefined || !isByWhatsApp || isAckMissing) return false
  return ![401, 402, 403, 405, 406, 408, 409, 411, 428, 429, 440, 515, 516].includes(code)
}
