import type { RestrictionReason } from '@wagate/shared/statuses'
import type { Database } from '../client.ts'
import { expectOwner, type Fence, fenceOf } from './fence.ts'

/** WhatsApp lets the sender write to no new contacts for this long from now. Undefined ends the restriction. */
export async function setRestriction(
  db: Database,
  fence: Fence,
  deviceId: number,
  restriction: { reason: RestrictionReason; forMs: number } | undefined,
): Promise<void> {
  const sql = db.$client
  await expectOwner(
    fence,
    sql`
    WITH fence AS (${fenceOf(sql, fence)})
    UPDATE devices SET restriction_reason = ${restriction?.reason ?? null},
      restricted_until = now() + ${restriction?.forMs ?? null}::float8 * interval '1 ms'
    FROM fence WHERE id = ${deviceId} RETURNING id`,
  )
}

/** How many new contacts the sender has written to in this cycle, and how many it may. Null when WhatsApp has not said. */
export type NewChats = {
  used: number | null
  total: number | null
  /** No more in this cycle. */
  isCapped: boolean
  /** Until the end of the cycle. */
  forMs: number
}

export async function setNewChats(
  db: Database,
  fence: Fence,
  deviceId: number,
  { used, total, isCapped, forMs }: NewChats,
): Promise<void> {
  const sql = db.$client
  await expectOwner(
    fence,
    sql`
    WITH fence AS (${fenceOf(sql, fence)})
    UPDATE devices SET new_chats_used = ${used}, new_chats_total = ${total}, new_chats_capped = ${isCapped},
      new_chats_until = now() + ${forMs}::float8 * interval '1 ms'
    FROM fence WHERE id = ${deviceId} RETURNING id`,
  )
}
