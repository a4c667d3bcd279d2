import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
import {
  type ConnectionState,
  connectionOf,
  isCompletingLink,
  isPaused,
  type Moment,
} from './connection-state.ts'
import { type BlockFacts, blockedMs, isNumberBanned } from './login-block.ts'

type Facts = BlockFacts &
  Pick<
    DeviceState,
    'isLinked' | 'hasStoredCreds' | 'isPairing' | 'isRemovable' | 'isAccountDisabled' | 'sessionRev'
  >

type State = ConnectionState<{ rev: number; sessionRev: number }, unknown>
type Usable = Exclude<State, { kind: 'refused' }>

type At<Known> = Moment & {
  /** False when the pace that Postgres says is not the one that the device sends at. */
  isPaceApplied(facts: Known): boolean
}

/** The next step towards what is desired. `wait`: nothing to do now, reconcile again after that time. */
export type Action<Known> =
  | { kind: 'none' }
  | { kind: 'wait'; ms: number }
  | { kind: 'forget-credentials'; reason: string }
  /** The link stays on the phone: it could be removed only by a login, which WhatsApp forbids. */
  | { kind: 'abandon-link'; facts: Known }
  | { kind: 'disconnect'; facts: Known | undefined }
  | {
      kind: 'log-in' | 'go-online' | 'update-pace' | 'restart' | 'suspend' | 'log-out' | 'show-qr' | 'remove'
      facts: Known
    }

/** How often a device that is being paired, or cannot be paired yet, is reconciled. */
export const pairingPollMs = 5000

const nothing = { kind: 'none' } as const

/**
 * The one place that decides what the owner of a device does next, from what Postgres says and from what the
 * connection is doing. `facts` is undefined for a device that no longer exists.
 */
export function planDevice<Known extends Facts>(
  facts: Known | undefined,
  state: State,
  at: At<Known>,
): Action<Known> {
  if (state.kind === 'refused') return { kind: 'forget-credentials', reason: state.reason }
  const rest = connectionOf(state) ? ({ kind: 'disconnect', facts } as const) : nothing
  if (!facts) return rest
  switch (intentOf(facts)) {
    case 'connect':
      return planConnect(facts, state, at)
    case 'suspend':
      return connectionOf(state) ? { kind: 'suspend', facts } : nothing
    case 'log-out':
      return planLogOut(facts, state, at)
    case 'pair':
      return planPairing(facts, state, at)
    case 'remove':
      return { kind: 'remove', facts }
    case 'rest':
      return rest
  }
}

/** The device does what is desired of it, or has to wait before it can. */
export function isReconciled({ kind }: Action<unknown>): boolean {
  return kind === 'none' || kind === 'wait'
}

function planConnect<Known extends Facts>(facts: Known, state: Usable, at: At<Known>): Action<Known> {
  switch (state.kind) {
    case 'logging-in':
      return nothing
    case 'open':
      return isOutdated(facts, state) ? { kind: 'restart', facts } : { kind: 'go-online', facts }
    case 'online':
      if (isOutdated(facts, state)) return { kind: 'restart', facts }
      return at.isPaceApplied(facts) ? nothing : { kind: 'update-pace', facts }
    default:
      return planLogin(facts, state, at)
  }
}

/** A new login was requested after that of the connection had begun. */
function isOutdated({ sessionRev }: Facts, { connection }: Extract<State, { connection: unknown }>): boolean {
  return connection.sessionRev < sessionRev
}

/** Only a login can remove the link from the phone. */
function planLogOut<Known extends Facts>(facts: Known, state: Usable, at: At<Known>): Action<Known> {
  switch (state.kind) {
    case 'logging-in':
      return nothing
    case 'open':
    case 'online':
      return { kind: 'log-out', facts }
    default:
      if (isBanned(facts, state, at.nowMs)) return { kind: 'abandon-link', facts }
      return planLogin(facts, state, at)
  }
}

/**
 * There are credentials although QR codes are shown: a phone has scanned the current code, and WhatsApp ends the
 * connection itself, or it has scanned an older one, and the login replaces the connection.
 */
function planLogin<Known extends Facts>(facts: Known, state: Usable, at: At<Known>): Action<Known> {
  if (state.kind === 'pairing' && isCompletingLink(state)) return nothing
  const ms = Math.max(pauseMs(facts, state, at), blockedMs(facts, at.version))
  return ms > 0 ? { kind: 'wait', ms } : { kind: 'log-in', facts }
}

/** The ban is known to this worker before it is stored. */
function isBanned(facts: Facts, state: Usable, nowMs: number): boolean {
  const isPausedForAny = state.kind === 'waiting' && state.rev === null && state.untilMs > nowMs
  return isPausedForAny || isNumberBanned(facts)
}

/**
 * A QR code that was shown for an earlier revision must not be scanned any more, whether or not the owner has seen
 * the logout in between: it is replaced.
 */
function planPairing<Known extends Facts>(facts: Known, state: Usable, at: At<Known>): Action<Known> {
  const isShown =
    state.kind === 'pairing' && state.connection.rev === facts.desiredRev && !isOutdated(facts, state)
  if (isShown || pauseMs(facts, state, at) > 0) return { kind: 'wait', ms: pairingPollMs }
  return { kind: 'show-qr', facts }
}

/**
 * A pause counts for the revision and the version of the client whose attempt failed: others are tried at once. A ban
 * counts for all.
 */
function pauseMs({ desiredRev }: Facts, state: Usable, moment: Moment): number {
  if (state.kind !== 'waiting' || !isPaused(state, moment)) return 0
  return state.rev === null || state.rev === desiredRev ? state.untilMs - moment.nowMs : 0
}

/** What the owner should be doing for a device. */
export type Intent = 'connect' | 'suspend' | 'log-out' | 'pair' | 'remove' | 'rest'

type Desires = Pick<
  DeviceState,
  'isLinked' | 'hasStoredCreds' | 'isPairing' | 'isRemovable' | 'isAccountDisabled'
>

/**
 * Depends on nothing but what Postgres says, so an owner that takes over in the middle of a logout, of a refused link,
 * of a pairing or of a removal finishes it.
 */
export function intentOf(facts: Desires | undefined): Intent {
  if (!facts) return 'rest'
  if (facts.hasStoredCreds) {
    if (!facts.isLinked) return 'log-out'
    return facts.isAccountDisabled ? 'suspend' : 'connect'
  }
  if (facts.isRemovable) return 'remove'
  return facts.isPairing && !facts.isAccountDisabled ? 'pair' : 'rest'
}
