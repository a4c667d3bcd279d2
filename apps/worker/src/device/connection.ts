import { announcePairingCode } from '@wagate/db/queries/devices/device-link'
import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
import { provenMs } from '../outbox/in-flight.ts'
import type { Session } from '../session/connection/session.ts'
import type { SocketOptions } from '../session/connection/socket.ts'
import type { SocketEnd } from '../session/connection/socket-end.ts'
import type { AuthStore } from '../session/credentials/auth-store.ts'
import { toSocketVersion } from '../session/network/client-version.ts'
import type { Outcome } from '../session/sending/outcomes.ts'
import type { DeviceScope } from './device-scope.ts'
import { openDeviceSession } from './device-session.ts'
import { makePairingCode, type ValidPairingCode } from './pairing-code.ts'
import { type DevicePasskey, makeDevicePasskey } from './passkey.ts'

/** One attempt to be connected to WhatsApp, from the opening of its socket to its end. */
export type Connection = {
  session: Session
  /** The revision of the desired state that it serves. */
  rev: number
  /** That of the device when it was opened. */
  sessionRev: number
  /** It logs in only to remove the link from the phone. */
  isLoggingOut: boolean
  /** As WhatsApp was told. */
  clientVersion: string
  openedAtMs: number
  /** Undefined before its first QR code: WhatsApp gives out no pairing code until then. */
  pairingCode(): Promise<ValidPairingCode> | undefined
  passkey: Pick<DevicePasskey, 'submit' | 'confirm'>
  /** WhatsApp acknowledged something on it, or it was open for a while. */
  hasWorked(): boolean
  /** Lets another login or pairing begin. */
  releaseSlot(): void
}

type ConnectionHooks = {
  onScanned(): void
  onOpen(): void
  onClosed(end: SocketEnd): Promise<void>
  onError(error: unknown): void
}

export type ConnectionStart = {
  kind: 'pairing' | 'logging-in'
  store: AuthStore
  network: SocketOptions['network']
  facts: DeviceState
  releaseSlot(): void
}

export function openConnection(
  scope: DeviceScope,
  { kind, store, network, facts, releaseSlot }: ConnectionStart,
  hooks: ConnectionHooks,
): Connection {
  const { context, lease, vault, caches, logger } = scope
  const { contacts, sentRecipients, firstContacts, outcomes } = scope.sending
  const openedAtMs = performance.now()
  const clientVersion = context.whatsApp.clientVersion.current()
  let onlineSinceMs = Number.POSITIVE_INFINITY
  let hasAcknowledged = false

  function onOutcome(waId: string, outcome: Outcome): void {
    if (outcome.kind !== 'refused') hasAcknowledged = true
    outcomes.publish(waId, outcome)
  }

  const session = openDeviceSession(
    context,
    {
      state: facts,
      network: { ...network, socket: { ...network.socket, version: toSocketVersion(clientVersion) } },
      lease,
      auth: store,
      contacts,
      vault,
      ...caches,
      sentRecipients,
      logger,
    },
    {
      onQrShown: () => pairingCode.noteQrShown(),
      onScanned: hooks.onScanned,
      onPasskeyAsked: (options) => passkey.ask(options),
      onOpen() {
        releaseSlot()
        context.metrics.logins.inc()
        onlineSinceMs = performance.now()
        hooks.onOpen()
      },
      onOutcome,
      onRestrictions(restrictions) {
        firstContacts.note(restrictions).catch(hooks.onError)
      },
      onReceipt({ kind, waIds, saidBy }) {
        context.metrics.receipts.inc({ kind }, waIds.length)
        for (const waId of waIds) onOutcome(waId, { kind, saidBy })
      },
      async onClosed(end) {
        releaseSlot()
        await hooks.onClosed(end)
      },
      onError: hooks.onError,
    },
  )
  const passkey = makeDevicePasskey(scope, {
    desiredRev: facts.desiredRev,
    link: () => session.passkey,
  })
  const pairingCode = makePairingCode(session.sock, facts.sender, (forMs) =>
    announcePairingCode(context.db, lease, scope.id, forMs),
  )
  return {
    session,
    pairingCode: pairingCode.get,
    passkey,
    rev: facts.desiredRev,
    sessionRev: facts.sessionRev,
    isLoggingOut: kind === 'logging-in' && !facts.isLinked,
    clientVersion,
    openedAtMs,
    hasWorked: () => hasAcknowledged || performance.now() - onlineSinceMs >= provenMs,
    releaseSlot,
  }
}
