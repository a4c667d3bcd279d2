import { earlierMessageId, messageIdOf } from '@wagate/shared/ids'
import type postgres from 'postgres'
import type { Columns } from '../statements/rows.ts'
import { writeKeyOf } from '../statements/write-keys.ts'

type Fragment = postgres.PendingQuery<postgres.Row[]>

/** What identifies a stanza among those of a device. Clients choose their ids, so the contact is part of it. */
export type ReceivedSource = { waId: string; number: string | null; contactJid?: string | null }

/** The key of the write that stores a stanza. The address that it came from does not change, what is known of it may. */
export function receivedKeyOf(
  { deviceId, waId, number, contactJid }: ReceivedSource & { deviceId: number },
  kind: 'received' | 'unavailable' | 'own' | 'own unavailable' = 'received',
) {
  return writeKeyOf(kind, deviceId, waId, contactJid ?? number ?? unknownNumber)
}

/** WhatsApp keeps undelivered messages for 30 days. Limits the partitions that are searched for duplicates. */
export const redeliveryDays = 31

/** In the column `number`, which is never null. */
export const unknownNumber = ''

/** An older message is not found by its id at WhatsApp: `messageIdOf` and `earlierMessageId` are right for no longer. */
const targetDays = 88

/** The columns that `findTarget` needs. `targetOf`: the id of the other message at WhatsApp. */
export function targetColumns<Item extends { sender: string }>(
  targetOf: (item: Item) => string | null,
): Columns<Item> {
  const ownIdOf = (item: Item) => {
    const target = targetOf(item)
    return (target && messageIdOf(target, item.sender)) || null
  }
  return {
    target: ['text', targetOf],
    own_id: ['uuid', ownIdOf],
    earlier_id: [
      'uuid',
      (item) => {
        const id = ownIdOf(item)
        return id && earlierMessageId(id)
      },
    ],
  }
}

/**
 * SQL: the message (`id`, `created_at`, `direction`, `type`) to which a row of the relation `given` refers: one that its
 * contact has sent to its device, or that its device or its phone has sent to this contact. Never one of another chat.
 */
export const findTarget = (sql: postgres.Sql): Fragment => sql`
  (SELECT known.id, known.created_at, known.direction, known.type FROM messages AS known
    WHERE known.device_id = given.device_id AND known.wa_id = given.target AND known.direction = 'in'
      AND known.created_at >= now() - ${targetDays} * interval '1 day'
      AND ${isFrom(sql, { number: sql`given.number`, contactJid: sql`given.contact_jid` })}
    LIMIT 1)
  UNION ALL
  (SELECT known.id, known.created_at, known.direction, known.type FROM messages AS known
    WHERE known.id IN (given.own_id, given.earlier_id) AND known.device_id = given.device_id
      AND known.wa_id = given.target AND known.direction = 'out'
      AND known.created_at >= now() - ${targetDays} * interval '1 day'
      AND (known.number = nullif(given.number, ${unknownNumber})
        OR known.recipient_jid IN (given.contact_jid, given.number || '@s.whatsapp.net'))
    LIMIT 1)
  UNION ALL
  (SELECT known.id, known.created_at, known.direction, known.type FROM messages AS known
    WHERE known.device_id = given.device_id AND known.wa_id = given.target AND known.source IS NOT NULL
      AND ${isFrom(sql, { number: sql`given.number`, contactJid: sql`given.contact_jid` })}
      AND known.created_at >= now() - ${targetDays} * interval '1 day'
    LIMIT 1)
  LIMIT 1`

/** SQL: whether the message `known` is from this contact. It may write with another of its addresses, or with both. */
export function isFrom(
  sql: postgres.Sql,
  { number, contactJid }: { number: postgres.Fragment; contactJid: postgres.Fragment },
): postgres.Fragment {
  // The version before this one stored a LID as the number.
  return sql`(known.number = nullif(${number}, ${unknownNumber}) OR known.recipient_jid = ${contactJid}
    OR known.number = split_part(${contactJid}, '@', 1))`
}
