import { listLinkedDeviceIds } from '@wagate/db/queries/devices/devices'
import { listWebhooks } from '@wagate/db/queries/webhooks/webhooks'
import type { ApiContext } from '../context.ts'

/** Commands per request: more would delay the commands of sends. */
const commandsMax = 1000

/** After a change that concerns all senders of an account. Owners that get no command find it at their next poll. */
export async function notifyOwners(
  { db, enqueueCommand }: Pick<ApiContext, 'db' | 'enqueueCommand'>,
  accountId: number,
): Promise<void> {
  const ids = await listLinkedDeviceIds(db, accountId, commandsMax)
  for (const deviceId of ids) enqueueCommand({ kind: 'apply-settings', deviceId })
}

/** After an account was disabled or enabled. Dispatchers that get no hint find it when they renew their leases. */
export async function notifyDispatchers(
  { db, publishWebhookHint }: Pick<ApiContext, 'db' | 'publishWebhookHint'>,
  accountId: number,
): Promise<void> {
  for (const { id } of await listWebhooks(db, accountId)) publishWebhookHint(id)
}
