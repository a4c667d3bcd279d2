import type { Database } from '../../client.ts'
import { insertMessageEvents } from '../statements/event-rows.ts'
import { expectOwner, type Fence, fenceOf } from '../statements/fence.ts'
import { isFrom, redeliveryDays, unknownNumber } from './known-messages.ts'

/** Received messages of a chat that were read on the phone of the account. `at`: ISO 8601. */
export type PhoneRead = { waIds: string[]; number: string | null; contactJid: string | null; at: string }

/** Records that they are read, each with an event, unless they are already. Throws OwnershipLost. */
export async function recordPhoneRead(
  db: Database,
  fence: Fence,
  deviceId: number,
  { waIds, number, contactJid, at }: PhoneRead,
): Promise<void> {
  const sql = db.$client
  await expectOwner(
    fence,
    sql`
      WITH fence AS (${fenceOf(sql, fence)}),
      marked AS (
        UPDATE messages AS known SET read_at = least(now(), greatest(created_at, ${at}::timestamptz)) FROM fence
        WHERE known.device_id = ${deviceId} AND known.wa_id = ANY (${waIds}::text[]) AND known.direction = 'in'
          AND known.created_at >= now() - ${redeliveryDays} * interval '1 day' AND known.read_at IS NULL
          AND ${isFrom(sql, {
            number: sql`${number ?? unknownNumber}::text`,
            contactJid: sql`${contactJid}::text`,
          })}
        RETURNING known.id, known.account_id, known.device_id, known.read_at
      ),
      told AS (${insertMessageEvents(sql, 'message.read_on_phone', 'marked', 'read_at')})
      SELECT FROM fence`,
  )
}
