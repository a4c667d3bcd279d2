import { setTimeout as delay } from 'node:timers/promises'
import { endPairing } from '@wagate/db/queries/devices/device-link'
import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
import { removeDevice, wipeCredentials } from '@wagate/db/queries/devices/device-removal'
import { maskPhone } from '@wagate/shared/phone'
import { startOutbox } from '../outbox/outbox.ts'
import { removeCompanion } from '../session/linking/log-out.ts'
import { connectionOf, openConnectionOf } from './connection-state.ts'
import type { Connector } from './connector.ts'
import { networkOf } from './device-network.ts'
import type { DeviceScope } from './device-scope.ts'
import { endGently } from './end-gently.ts'
import { type Action, pairingPollMs } from './plan.ts'

/** What an action acts on. */
export type Acting = {
  scope: DeviceScope
  connector: Connector
  isClosed(): boolean
  /** Messages wait for the login. */
  hasWaiting(): boolean
  reconcile(): void
  reconcileAfter(ms: number): void
}

const wipePauseMs = 20
const removalCheckMs = 5000
/** A first login makes 812 pre-keys, in 150 ms of CPU: two of them at a time. */
const firstLoginUnits = 4

export async function executeAction(acting: Acting, action: Action<DeviceState>): Promise<void> {
  switch (action.kind) {
    case 'none':
      return
    case 'wait':
      return acting.reconcileAfter(action.ms)
    case 'log-in':
      return logIn(acting, action.facts)
    case 'go-online':
      return goOnline(acting, action.facts)
    case 'update-pace':
      return updatePace(acting, action.facts)
    case 'restart':
      return restart(acting)
    case 'suspend':
      return suspend(acting)
    case 'log-out':
      return logOut(acting, action.facts)
    case 'show-qr':
      return showQr(acting, action.facts)
    case 'disconnect':
      return disconnect(acting, action.facts)
    case 'remove':
      return remove(acting, action.facts)
    case 'abandon-link':
      return abandonLink(acting, action.facts)
    case 'forget-credentials':
      await forgetCredentials(acting, action.reason)
      // The state was read from Postgres before the credentials were wiped.
      return acting.reconcile()
  }
}

async function logIn(acting: Acting, facts: DeviceState): Promise<void> {
  const { auth, context, id, lease } = acting.scope
  if (connectionOf(acting.connector.state())) {
    void acting.connector.end()
    await context.events.clearQr(id)
  }
  const network = networkOf(context, facts)
  const store = await auth.load()
  if (!store) return
  const isFirst = store.creds.nextPreKeyId === 1
  const releaseSlot = await context.whatsApp.logins.acquire(isFirst ? firstLoginUnits : 1, acting.hasWaiting)
  if (acting.isClosed() || !lease.isValid()) releaseSlot()
  else acting.connector.open({ kind: 'logging-in', store, network, facts, releaseSlot })
}

async function goOnline({ scope, connector, isClosed }: Acting, facts: DeviceState): Promise<void> {
  const { context, id, lease, logger, pacing, status } = scope
  const opened = connectionOf(connector.state())
  const sessionRev = opened?.sessionRev ?? 0
  const [pace] = await Promise.all([
    pacing.apply(facts),
    status.note({ connection: 'online', reason: null, sessionRev }),
  ])
  if (isClosed() || connectionOf(connector.state()) !== opened) return
  const { vault, sending } = scope
  const device = { id, accountId: facts.accountId, lease, vault, pace, ...sending }
  connector.startSending(({ session, openedAtMs }) => {
    sending.firstContacts.load(facts, openedAtMs)
    return startOutbox(context, device, session.sock)
  })
  logger.info({ sender: maskPhone(facts.sender) }, 'Device connected')
  await context.events.publish(id, { kind: 'status', connected: true, reason: null })
}

async function updatePace({ scope, connector }: Acting, facts: DeviceState): Promise<void> {
  await scope.pacing.apply(facts)
  scope.logger.info('Applied the new pace of the device')
  const state = connector.state()
  if (state.kind === 'online') state.outbox.wake()
}

/** Until its account is enabled again. The link stays, and so do the messages that wait. */
async function suspend({ connector, scope }: Acting): Promise<void> {
  await endGently(connector)
  const reason = 'account_disabled'
  await scope.status.note({ connection: 'offline', reason, hasGrace: false })
  scope.logger.info('Disconnected the device of a disabled account')
  await scope.context.events.publish(scope.id, { kind: 'status', connected: false, reason })
}

/** The link stays. Messages on the wire get their answers first, as when the device is handed over. */
async function restart({ connector, reconcile, scope }: Acting): Promise<void> {
  scope.logger.info('Restarting the connection to WhatsApp on request')
  await endGently(connector)
  reconcile()
}

async function logOut(acting: Acting, { sender, desiredRev }: DeviceState): Promise<void> {
  const { connector, reconcile, reconcileAfter, scope } = acting
  connector.stopSending()
  const sock = openConnectionOf(connector.state())?.session.sock
  const isRemoved = sock ? await removeCompanion(sock) : false
  if (!isRemoved) return reconcileAfter(connector.endUnconfirmed(desiredRev))
  void connector.end()
  await forgetCredentials(acting, null)
  scope.logger.info({ sender: maskPhone(sender) }, 'Device logged out')
  reconcile()
}

async function abandonLink(acting: Acting, { sender }: DeviceState): Promise<void> {
  await forgetCredentials(acting, null)
  acting.scope.logger.warn(
    { sender: maskPhone(sender) },
    'The number is banned: wiped the credentials without a login, so the phone still shows the link',
  )
  acting.reconcile()
}

async function showQr({ connector, reconcileAfter, scope }: Acting, facts: DeviceState): Promise<void> {
  const { auth, context, id } = scope
  reconcileAfter(pairingPollMs)
  void connector.end()
  const network = networkOf(context, facts)
  const releaseSlot = context.whatsApp.pairings.tryAcquire(String(facts.accountId), 1)
  if (releaseSlot) connector.open({ kind: 'pairing', store: auth.make(), network, facts, releaseSlot })
  else await context.events.publish(id, { kind: 'pairing-refused' })
}

async function disconnect({ scope, connector }: Acting, facts: DeviceState | undefined): Promise<void> {
  const { context, id, lease } = scope
  const wasPairing = connector.state().kind === 'pairing'
  void connector.end()
  if (!facts || !wasPairing) return
  const reason = facts.desired === 'linked' ? (facts.pairingStep ? 'passkey_expired' : 'qr_expired') : null
  await endPairing(context.db, lease, id, { desiredRev: facts.desiredRev, reason })
  await context.events.clearQr(id)
  await context.events.publish(id, { kind: 'status', connected: false, reason })
}

async function remove(acting: Acting, facts: DeviceState): Promise<void> {
  const { context, id, lease } = acting.scope
  await disconnect(acting, facts)
  await wipe(acting.scope, null)
  await removeDevice(context.db, lease, id)
  // Finds that it is gone, or that messages still waited.
  acting.reconcileAfter(removalCheckMs)
}

async function forgetCredentials({ scope, connector }: Acting, reason: string | null): Promise<void> {
  await scope.auth.retire()
  await wipe(scope, reason)
  connector.forget()
  await scope.context.events.publish(scope.id, { kind: 'status', connected: false, reason })
}

/** In bounded steps. The next link waits for all of them: it must not find keys of this one. */
async function wipe({ context, lease, id }: DeviceScope, reason: string | null): Promise<void> {
  while (!(await wipeCredentials(context.db, lease, id, reason))) await delay(wipePauseMs)
}
