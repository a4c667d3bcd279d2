import type { Database } from '@wagate/db/client'
import { listLinkedDeviceIds } from '@wagate/db/queries/devices/devices'
import { listWebhooks } from '@wagate/db/queries/webhooks/webhooks'
import type { CommandDispatcher } from '../devices/command-dispatcher.ts'

/** Commands per request: more would delay the commands of sends. */
const commandsMax = 1000

/** After a change that concerns all senders of an account. Owners that get no command find it at their next poll. */
export async function notifyOwners(
  { db, notify }: { db: Database; notify: { enqueueCommand: CommandDispatcher['enqueue'] } },
  accountId: number,
): Promise<void> {
  const ids = await listLinkedDeviceIds(db, accountId, commandsMax)
  for (const deviceId of ids) notify.enqueueCommand({ kind: 'apply-settings', deviceId })
}

/** After an account was disabled or enabled. Dispatchers that get no hint find it when they renew their leases. */
export async function notifyDispatchers(
  { db, notify }: { db: Database; notify: { publishWebhookHint(webhookId: number): void } },
  accountId: number,
): Promise<void> {
  for (const { id } of await listWebhooks(db, accountId)) notify.publishWebhookHint(id)
}
