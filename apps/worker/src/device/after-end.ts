import type { ConnectionChange } from '@wagate/db/queries/devices/device-connection'
import type { AfterClose } from '../session/connection/reconnect-policy.ts'
import type { Disconnected } from './connection-state.ts'

type EndedConnection = {
  kind: 'pairing' | 'login'
  /** The revision of the desired state that it served. */
  rev: number
  /** Of the client, as WhatsApp was told. */
  version: string
  /** Since it was opened. */
  forMs: number
}

export type AfterEnd = {
  state: Disconnected
  /** Until the next attempt. Infinite when there is none until the user or the operator does something. */
  delayMs: number
  /** What the device's status says from now on. Null when it says the same as before. */
  change: ConnectionChange | null
  /** Once it is known that this worker owns the device, the next attempt may begin after `delayMs`. */
  needsLease: boolean
}

/** Between two logins, when the first was not ended on request. Only the restart that follows a pairing does not wait. */
const loginGapMs = 1000
/** A pause of at least this time is kept over a takeover. */
const storedPauseMs = 60_000
/** After credentials were refused that no phone has linked yet. */
const retryMs = 1000
/** How long a device waits before it logs in without knowing that this worker still owns it. */
const unconfirmedLeaseMs = 60_000
/** A connection for a QR code is not a login of the sender. Someone waits for the code. */
const pairingPauseMsMax = 10 * 60_000

/**
 * The same pause is kept in memory (`state`), where it counts at once, and if it is long in Postgres (`change`), where it
 * counts for every later owner.
 */
export function afterEnd(next: AfterClose, ended: EndedConnection, nowMs: number): AfterEnd {
  const { kind, rev } = ended
  if (kind === 'pairing') {
    const delayMs = Math.min(pauseOf(next), pairingPauseMsMax)
    return { state: waiting(next, ended, nowMs + delayMs, rev), delayMs, change: null, needsLease: false }
  }
  if (next.kind === 'wipe') {
    return {
      state: { kind: 'refused', reason: next.reason },
      delayMs: 0,
      change: null,
      needsLease: false,
    }
  }
  const delayMs = Math.max(loginGapMs - ended.forMs, pauseOf(next))
  const needsLease = next.kind === 'reconnect' && next.needsLease === true
  const untilMs = nowMs + (needsLease ? unconfirmedLeaseMs : delayMs)
  const isOfRevision = next.kind === 'reconnect' || next.ends.withNextStep
  return {
    state: waiting(next, ended, untilMs, isOfRevision ? rev : null),
    delayMs,
    change: changeFor(next, ended),
    needsLease,
  }
}

function waiting(
  next: AfterClose,
  { version }: EndedConnection,
  untilMs: number,
  rev: number | null,
): Disconnected {
  const isOfVersion = next.kind === 'block' && next.ends.withNewVersion
  return { kind: 'waiting', untilMs, rev, version: isOfVersion ? version : null }
}

function pauseOf(next: AfterClose): number {
  if (next.kind === 'wipe') return retryMs
  return next.kind === 'block' ? (next.ends.afterMs ?? Number.POSITIVE_INFINITY) : next.delayMs
}

function changeFor(
  next: Exclude<AfterClose, { kind: 'wipe' }>,
  { rev, version }: EndedConnection,
): ConnectionChange {
  const { reason, detail = null } = next
  if (next.kind === 'reconnect') {
    const pause = next.delayMs < storedPauseMs ? {} : { block: { forMs: next.delayMs, rev, version: null } }
    return { connection: 'offline', reason, detail, hasGrace: next.hasGrace, ...pause }
  }
  const { afterMs, withNextStep, withNewVersion } = next.ends
  const block = {
    forMs: afterMs,
    rev: withNextStep ? rev : null,
    version: withNewVersion ? version : null,
  }
  return { connection: 'offline', reason, detail, hasGrace: false, block }
}
