import type { Logger } from '@wagate/runtime/logger'
import type { DeviceContext } from '../context.ts'
import { type FirstContacts, makeFirstContacts } from '../outbox/first-contacts.ts'
import { makeNumberResolver, type NumberResolver } from '../outbox/number-resolver.ts'
import { makeRetries, type Retries } from '../outbox/retries.ts'
import { makeSentRecipients, type SentRecipients } from '../outbox/sent-recipients.ts'
import type { Lease } from '../ownership/lease.ts'
import type { Scope } from '../scoped-cache.ts'
import { makeVault, type Vault } from '../session/credentials/vault.ts'
import { makeOutcomeFeed, type OutcomeFeed } from '../session/sending/outcome-feed.ts'
import { type ConnectionStatus, makeConnectionStatus } from './connection-status.ts'
import { type DeviceAuth, makeDeviceAuth } from './device-auth.ts'
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
  outcomes: OutcomeFeed
  pacing: DevicePacing
  resolver: NumberResolver
  retries: Retries
  retryCounts: Scope
  messageSecrets: Scope
  sentRecipients: SentRecipients
  firstContacts: FirstContacts
  status: ConnectionStatus
  unlinked: UnlinkedSweep
}

export function makeDeviceScope(context: DeviceContext, lease: Lease, id: number): DeviceScope {
  const vault = makeVault(context.masterKeys, id)
  const logger = context.logger.child({ deviceId: id })
  // The pacer is the first listener: when the outbox hears of an outcome, the pacer has counted it.
  const outcomes = makeOutcomeFeed()
  return {
    context,
    id,
    lease,
    logger,
    vault,
    auth: makeDeviceAuth(context, { id, lease, vault }),
    outcomes,
    pacing: makeDevicePacing(context, id, outcomes),
    resolver: makeNumberResolver(context.recipientsOf(id)),
    retries: makeRetries(),
    retryCounts: context.caches.retryCounts(),
    messageSecrets: context.caches.messageSecrets(),
    sentRecipients: makeSentRecipients(),
    firstContacts: makeFirstContacts(context, lease, id),
    status: makeConnectionStatus(context.db, lease, id, logger),
    unlinked: makeUnlinkedSweep(context, lease, id),
  }
}
