import type { DeviceState } from '@wagate/db/queries/device-owner-view'
import { provenMs } from '../outbox/connection-proof.ts'
import type { AuthStore } from '../session/auth-store.ts'
import type { Outcome } from '../session/outcomes.ts'
import type { Session } from '../session/session.ts'
import type { DeviceScope } from './device-scope.ts'
import { openDeviceSession } from './device-session.ts'

/** One attempt to be connected to WhatsApp, from the opening of its socket to its end. */
export type Connection = {
  session: Session
  /** The revision of the desired state that it serves. */
  rev: number
  /** It logs in only to remove the link from the phone. */
  isLoggingOut: boolean
  openedAtMs: number
  /** WhatsApp acknowledged something on it, or it was open for a while. */
  hasWorked(): boolean
  /** Lets another login or pairing begin. */
  releaseSlot(): void
}

type ConnectionHooks = {
  onScanned(): void
  onOpen(): void
  onClosed(code: number | undefined): Promise<void>
  onError(error: unknown): void
}

export type ConnectionStart = {
  kind: 'pairing' | 'logging-in'
  store: AuthStore
  facts: DeviceState
  releaseSlot(): void
}

export function openConnection(
  { context, lease, vault, retryCounts, addressees, firstContacts, outcomes, logger }: DeviceScope,
  { kind, store, facts, releaseSlot }: ConnectionStart,
  hooks: ConnectionHooks,
): Connection {
  const openedAtMs = performance.now()
  let onlineSinceMs = Number.POSITIVE_INFINITY
  let hasAcknowledged = false

  function onOutcome(waId: string, outcome: Outcome): void {
    if (outcome.kind !== 'refused') hasAcknowledged = true
    outcomes.publish(waId, outcome)
  }

  const session = openDeviceSession(
    context,
    { state: facts, lease, auth: store, vault, retryCounts, addressees, logger },
    {
      onScanned: hooks.onScanned,
      onOpen() {
        releaseSlot()
        context.metrics.logins.inc()
        onlineSinceMs = performance.now()
        hooks.onOpen()
      },
      onOutcome,
      onStanding(standing) {
        firstContacts.note(standing).catch(hooks.onError)
      },
      onReceipt({ kind, waIds, saidBy }) {
        context.metrics.receipts.inc({ kind }, waIds.length)
        for (const waId of waIds) onOutcome(waId, { kind, saidBy })
      },
      async onClosed(code) {
        releaseSlot()
        await hooks.onClosed(code)
      },
      onError: hooks.onError,
    },
  )
  return {
    session,
    rev: facts.desiredRev,
    isLoggingOut: kind === 'logging-in' && !facts.isLinked,
    openedAtMs,
    hasWorked: () => hasAcknowledged || performance.now() - onlineSinceMs >= provenMs,
    releaseSlot,
  }
}
