import { lidOf, numberOf } from '@wagate/shared/contact-key'
import type { MessageStatus } from '@wagate/shared/statuses'
import type { Database } from '../../client.ts'
import { type Contact, contactOf } from '../contacts/known-contacts.ts'
import { reportedStatus } from '../devices/reported-status.ts'
import { idempotencyWindowStart } from '../statements/idempotency-window.ts'
import { rows } from '../statements/rows.ts'

type KeyScope = { accountId: number; operation: string; key: string }

/** The message that the first request with an idempotency key has created. */
export type KeyUse = KeyScope & {
  payloadHash: string
  messageId: string
  deviceId: number
  status: MessageStatus
  /** The recipient, as far as it is known now. */
  contact: Contact
}

/** Leaves out keys that were not used within 24 hours. */
export async function findKeyUses(db: Database, keys: KeyScope[]): Promise<KeyUse[]> {
  const sql = db.$client
  const found = await sql<(Omit<KeyUse, 'contact'> & FoundContact)[]>`
    SELECT stored.account_id AS "accountId", stored.operation, stored.key,
      encode(stored.payload_hash, 'base64') AS "payloadHash",
      message.id AS "messageId", message.device_id AS "deviceId", ${sql.unsafe(reportedStatus('message'))} AS status,
      message.number AS "contactKey", message.recipient_jid AS "recipientJid", contact.lid_jid AS "lidJid", contact.username
    FROM ${rows(sql, 'given', keys, {
      account_id: ['int', ({ accountId }) => accountId],
      operation: ['text', ({ operation }) => operation],
      key: ['text', ({ key }) => key],
    })}
    JOIN idempotency_keys AS stored USING (account_id, operation, key)
    -- One statement stored both, so they have the same now(), which also identifies the partition.
    JOIN messages AS message ON message.id = stored.message_id AND message.created_at = stored.created_at
    LEFT JOIN LATERAL (${contactOf(sql, 'message')}) AS contact ON true
    WHERE stored.created_at > ${sql.unsafe(idempotencyWindowStart)}`
  return found.map(({ contactKey, recipientJid, lidJid, username, ...use }) => ({
    ...use,
    contact: {
      key: contactKey,
      number: numberOf(contactKey),
      lid: lidOf(recipientJid) ?? lidOf(lidJid),
      username,
    },
  }))
}

type FoundContact = {
  contactKey: string
  recipientJid: string | null
  lidJid: string | null
  username: string | null
}
