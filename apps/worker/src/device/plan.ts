import type { DeviceState } from '@wagate/db/queries/device-owner-view'
import { type ConnectionState, connectionOf, isCompletingLink } from './connection-state.ts'
import { intentOf } from './intent.ts'

type Facts = Pick<DeviceState, 'isLinked' | 'hasStoredCreds' | 'isPairing' | 'isRemovable' | 'desiredRev'>

type State = ConnectionState<{ rev: number }, unknown>
type Usable = Exclude<State, { kind: 'refused' }>

type At<Known> = {
  nowMs: number
  /** False when the pace that Postgres says is not the one that the device sends at. */
  isPaceApplied(facts: Known): boolean
}

/** The next step towards what is desired. `wait`: nothing to do now, reconcile again after that time. */
export type Action<Known> =
  | { kind: 'none' }
  | { kind: 'wait'; ms: number }
  | { kind: 'forget-credentials'; reason: string }
  | { kind: 'disconnect'; facts: Known | undefined }
  | { kind: 'log-in' | 'go-online' | 'update-pace' | 'log-out' | 'show-qr' | 'remove'; facts: Known }

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
    case 'log-out':
      return planLogOut(facts, state, at.nowMs)
    case 'pair':
      return planPairing(facts, state, at.nowMs)
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
      return { kind: 'go-online', facts }
    case 'online':
      return at.isPaceApplied(facts) ? nothing : { kind: 'update-pace', facts }
    default:
      return planLogin(facts, state, at.nowMs)
  }
}

/** Only a login can remove the link from the phone. */
function planLogOut<Known extends Facts>(facts: Known, state: Usable, nowMs: number): Action<Known> {
  switch (state.kind) {
    case 'logging-in':
      return nothing
    case 'open':
    case 'online':
      return { kind: 'log-out', facts }
    default:
      return planLogin(facts, state, nowMs)
  }
}

/**
 * There are credentials although QR codes are shown: a phone has scanned the current code, and WhatsApp ends the
 * connection itself, or it has scanned an older one, and the login replaces the connection.
 */
function planLogin<Known extends Facts>(facts: Known, state: Usable, nowMs: number): Action<Known> {
  if (state.kind === 'pairing' && isCompletingLink(state)) return nothing
  const ms = pauseMs(facts, state, nowMs)
  return ms > 0 ? { kind: 'wait', ms } : { kind: 'log-in', facts }
}

/**
 * A QR code that was shown for an earlier revision must not be scanned any more, whether or not the owner has seen
 * the logout in between: it is replaced.
 */
function planPairing<Known extends Facts>(facts: Known, state: Usable, nowMs: number): Action<Known> {
  const isShown = state.kind === 'pairing' && state.connection.rev === facts.desiredRev
  if (isShown || pauseMs(facts, state, nowMs) > 0) return { kind: 'wait', ms: pairingPollMs }
  return { kind: 'show-qr', facts }
}

/** A pause counts for the revision whose attempt failed. A newer one is tried at once. */
function pauseMs({ desiredRev }: Facts, state: Usable, nowMs: number): number {
  return state.kind === 'waiting' && state.rev === desiredRev ? Math.max(0, state.untilMs - nowMs) : 0
}
