import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import type { RestrictionReason } from '@wagate/shared/statuses'
import type { OutboxWaits } from '../outbox/outbox-waits.ts'
import type { Lease } from '../ownership/lease.ts'
import type { WASocket } from '../session/connection/socket.ts'
import {
  connectionOf,
  isComingOnline,
  isCompletingLink,
  openConnectionOf,
  outboxOf,
} from './connection-state.ts'
import { makeConnector } from './connector.ts'
import type { DeviceContext } from './device-context.ts'
import { makeDeviceScope } from './device-scope.ts'
import { endGently } from './end-gently.ts'
import { executeAction } from './execute-action.ts'
import { makeNumberChecks } from './number-checks.ts'
import { publishPairingCode } from './pairing-code.ts'
import { type Action, isReconciled, planDevice } from './plan.ts'
import { makeReadReceipts } from './read-receipts.ts'

export type Device = {
  /** Brings the connection to what is desired. To be called whenever that may have changed. */
  reconcile(): void
  /** There may be new messages to send. */
  wake(): void
  /** Publishes whether each of these numbers is on WhatsApp; does nothing while there is no connection. */
  checkNumbers(numbers: string[]): void
  /** Publishes the pairing code of the QR code that is shown; does nothing while none is. */
  requestPairingCode(): void
  /** Sends the assertion that waits in Redis; does nothing while no passkey is asked for. */
  submitPasskey(): void
  /** The person has compared the codes; the same. */
  confirmPasskey(): void
  /** Tells contacts that their messages were read. Without a connection, they are told once it is open. */
  markRead(): void
  /** False when what Postgres says asks for something else than what the device is doing. */
  isReconciled(facts: DeviceState): boolean
  /** Undefined while it has no open connection. */
  openSock(): WASocket | undefined
  /** It sends messages. */
  isOnline(): boolean
  /** Why it may write to no new contacts. */
  restrictionReason(): RestrictionReason | undefined
  /** What its messages wait for. Undefined while it sends none. */
  waits(): OutboxWaits | undefined
  /** It may write to no further new contacts today. */
  isBudgetUsedUp(): boolean
  /** A QR code is shown, or a phone has scanned it and the link is not complete. */
  isPairing(): boolean
  /** `released`: messages in flight get their answers first. `lost`: nothing more is written or sent. */
  close(why: 'released' | 'lost'): Promise<void>
}

/** The poll finds every few seconds what is not as it should be. */
const retryPause = { firstMs: 1000, maxMs: 10_000 }
/** Node's timers end at once when their time exceeds 24 days. */
const timerMsMax = 3_600_000

/**
 * One device of an owned shard: brings its connection to what Postgres says is desired, and keeps it there. `onRemoved` is called
 * once it no longer exists.
 */
export function makeDevice(context: DeviceContext, lease: Lease, id: number, onRemoved: () => void): Device {
  const scope = makeDeviceScope(context, lease, id)
  const { logger, pacing, unlinked } = scope
  const reconcile = makeSingleFlight(reconcileOnce, onError)
  const connector = makeConnector(scope, { onOpen, reconcile, reconcileAfter, onError })
  const flags = { isClosed: () => isClosed, hasWaiting: () => hasWaiting }
  const acting = { scope, connector, reconcile, reconcileAfter, ...flags }
  const openSock = () => openConnectionOf(connector.state())?.session.sock
  const pairingPasskey = () => {
    const state = connector.state()
    return state.kind === 'pairing' ? state.connection.passkey : undefined
  }
  const readReceipts = makeReadReceipts(scope, openSock)
  const numberChecks = makeNumberChecks(context, { id, resolver: scope.sending.resolver }, openSock)
  let timer: NodeJS.Timeout | undefined
  let hasWaiting = false
  let isClosed = false
  /** Reconciliations in a row that have failed. */
  let failures = 0

  function reconcileAfter(ms: number): void {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(reconcile, Math.min(ms, timerMsMax))
  }

  function onError(error: unknown): void {
    if (isClosed) return
    if (error instanceof OwnershipLost) context.onLost(error)
    logger.warn({ err: error }, 'Device reconciliation failed, will retry')
    failures += 1
    reconcileAfter(growingPauseMs(failures, retryPause))
  }

  function onOpen(): void {
    hasWaiting = false
    readReceipts.sendWaiting()
    reconcile()
  }

  const moment = () => ({ nowMs: performance.now(), version: context.whatsApp.clientVersion.current() })

  function plan(facts: DeviceState | undefined): Action<DeviceState> {
    return planDevice(facts, connector.state(), { ...moment(), isPaceApplied: pacing.isApplied })
  }

  async function reconcileOnce(): Promise<void> {
    if (isClosed) return
    const connection = connectionOf(connector.state())
    const facts = await context.statements.deviceStates.add(id)
    if (isClosed) return
    // The connection ended while we were reading, perhaps for a phone that scanned: the facts may be older than that.
    if (connectionOf(connector.state()) !== connection) return reconcile()
    if (facts) unlinked.sweep(facts)
    await executeAction(acting, plan(facts))
    failures = 0
    if (!facts) onRemoved()
  }

  return {
    reconcile,
    wake() {
      hasWaiting = true
      outboxOf(connector.state())?.wake()
      if (!isComingOnline(connector.state(), moment())) reconcile()
    },
    checkNumbers: numberChecks.ask,
    requestPairingCode() {
      const state = connector.state()
      const code = state.kind === 'pairing' ? state.connection.pairingCode() : undefined
      if (code !== undefined) void publishPairingCode(scope, code)
    },
    submitPasskey: () => void pairingPasskey()?.submit().catch(onError),
    confirmPasskey: () => void pairingPasskey()?.confirm().catch(onError),
    markRead: readReceipts.sendWaiting,
    isReconciled: (facts) => isReconciled(plan(facts)),
    openSock,
    isOnline: () => connector.state().kind === 'online',
    waits: () => outboxOf(connector.state())?.waits(),
    restrictionReason: scope.sending.firstContacts.reason,
    isBudgetUsedUp: pacing.isBudgetUsedUp,
    isPairing: () => connector.state().kind === 'pairing' || isCompletingLink(connector.state()),
    async close(why) {
      isClosed = true
      unlinked.stop()
      clearTimeout(timer)
      if (why === 'released') await endGently(connector)
      else void connector.end()
      for (const cache of Object.values(scope.caches)) cache.close()
    },
  }
}
