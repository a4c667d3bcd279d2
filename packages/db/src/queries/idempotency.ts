import type { MessageStatus } from '@wagate/shared/statuses'
import type { Database } from '../client.ts'

type KeyScope = { accountId: number; operation: string; key: string }

/** What the first request under an idempotency key left behind. */
export type KeyUse = KeyScope & {
  payloadHash: string
  messageId: string
  deviceId: number
  status: MessageStatus
}

/** For those of the keys that were used within 24 hours. */
export async function findKeyUses(db: Database, keys: KeyScope[]): Promise<KeyUse[]> {
  return db.$client<KeyUse[]>`
    SELECT stored.account_id AS "accountId", stored.operation, stored.key,
      encode(stored.payload_hash, 'base64') AS "payloadHash",
      message.id AS "messageId", message.device_id AS "deviceId",
      CASE WHEN message.status = 'queued' AND message.send_at > now() THEN 'scheduled' ELSE message.status END
        AS status
    FROM unnest(
      ${keys.map(({ accountId }) => accountId)}::int[],
      ${keys.map(({ operation }) => operation)}::text[],
      ${keys.map(({ key }) => key)}::text[]
    ) AS given (account_id, operation, key)
    JOIN idempotency_keys AS stored USING (account_id, operation, key)
    -- Stored by one statement, so with one now(); the partition follows from it.
    JOIN messages AS message ON message.id = stored.message_id AND message.created_at = stored.created_at
    WHERE stored.created_at > now() - interval '24 hours'`
}
