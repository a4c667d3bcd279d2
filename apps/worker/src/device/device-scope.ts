import type { Logger } from '@wagate/runtime/logger'
import type { Scope } from '../caches/scoped-cache.ts'
import { makeFirstContacts } from '../outbox/first-contacts.ts'
import { makeNumberResolver } from '../outbox/number-resolver.ts'
import { makeSentRecipients, type SendingMemory } from '../outbox/outbox-context.ts'
import { makeRetries } from '../outbox/retries.ts'
import type { Lease } from '../ownership/lease.ts'
import { makeDeviceContacts, type NotedContact } from '../session/contacts/device-contacts.ts'
import { makeVault, type Vault } from '../session/credentials/vault.ts'
import { makeOutcomeFeed } from '../session/sending/outcomes.ts'
import { type ConnectionStatus, makeConnectionStatus } from './connection-status.ts'
import { type DeviceAuth, makeDeviceAuth } from './device-auth.ts'
import type { DeviceContext } from './device-context.ts'
import { type DevicePacing, makeDevicePacing } from './device-pacing.ts'
import { makeUnlinkedSweep, type UnlinkedSweep } from './unlinked-sweep.ts'

/** What outlives the connections of a device: it is kept for as long as this worker owns the device. */
export type DeviceScope = {
  context: DeviceContext
  id: number
  lease: Lease
  logger: Logger
  vault: Vault
  auth: DeviceAuth
  pacing: DevicePacing
  sending: SendingMemory
  caches: { retryCounts: Scope; notedContacts: Scope<NotedContact> }
  status: ConnectionStatus
  unlinked: UnlinkedSweep
}

export function makeDeviceScope(context: DeviceContext, lease: Lease, id: number): DeviceScope {
  const vault = makeVault(context.config.masterKeys, id)
  const logger = context.logger.child({ deviceId: id })
  // The pacer is the first listener: when the outbox hears of an outcome, the pacer has counted it.
  const outcomes = makeOutcomeFeed()
  const caches = {
    retryCounts: context.caches.retryCounts(),
    notedContacts: context.caches.notedContacts(),
  }
  const contacts = makeDeviceContacts(
    { id, lease },
    caches.notedContacts,
    context.statements.learntContacts.add,
  )
  return {
    context,
    id,
    lease,
    logger,
    vault,
    auth: makeDeviceAuth(context, { id, lease, vault, contacts }),
    pacing: makeDevicePacing(context, id, outcomes),
    sending: {
      outcomes,
      contacts,
      resolver: makeNumberResolver(context.caches.recipientsOf(id)),
      retries: makeRetries(),
      sentRecipients: makeSentRecipients(),
      firstContacts: makeFirstContacts(context, lease, id),
    },
    caches,
    status: makeConnectionStatus(context.db, lease, id, logger),
    unlinked: makeUnlinkedSweep(context, lease, id),
  }
}
