import { lidOf, numberOf } from '@wagate/shared/contact-key'
import { sql as drizzleSql } from 'drizzle-orm'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { type Fence, fencesOf, leaseColumns, lostWrites, type OwnershipLost } from '../statements/fence.ts'
import { numberedRows } from '../statements/rows.ts'
import { numberForms } from './number-forms.ts'

/** `key`: under which its messages, opt-outs and counts are stored (contact-key.ts). */
export type Contact = { key: string; number: string | null; lid: string | null; username: string | null }

/** A contact that the account need not know. */
export async function findContact(db: Database, accountId: number, key: string): Promise<Contact> {
  const sql = db.$client
  const [row] = await sql<{ lidJid: string; number: string | null; username: string | null }[]>`
    SELECT lid_jid AS "lidJid", number, username FROM contacts
    WHERE account_id = ${accountId} AND ${lidOf(key) === null ? sql`number = ${key}` : sql`lid_jid = ${key}`} LIMIT 1`
  const number = row?.number ?? numberOf(key)
  return { key: number ?? key, number, lid: lidOf(row?.lidJid ?? key), username: row?.username ?? null }
}

/** SQL: what the account knows of the contact of a row, as one value of a select. `lidColumn` may have its LID. */
export const knownOf = (table: 'messages' | 'opt_outs', lidColumn: 'recipient_jid' | 'number') =>
  drizzleSql<{ lidJid: string; username: string | null } | null>`(
    SELECT json_build_object('lidJid', lid_jid, 'username', username) FROM (
      SELECT lid_jid, username FROM contacts WHERE contacts.account_id = ${drizzleSql.raw(table)}.account_id
        AND contacts.lid_jid = ${drizzleSql.raw(table)}.${drizzleSql.raw(lidColumn)}
      UNION ALL
      SELECT lid_jid, username FROM contacts WHERE contacts.account_id = ${drizzleSql.raw(table)}.account_id
        AND contacts.number = ${drizzleSql.raw(table)}.number
      LIMIT 1
    ) AS contact)`

/** SQL: the row of the contact of a message, a row of this name. For LATERAL. */
export const contactOf = (sql: postgres.Sql, message: string) => sql`
  SELECT lid_jid, username FROM contacts
  WHERE contacts.account_id = ${sql(message)}.account_id AND contacts.lid_jid = ${sql(message)}.recipient_jid
  UNION ALL
  SELECT lid_jid, username FROM contacts
  WHERE contacts.account_id = ${sql(message)}.account_id AND contacts.number = ${sql(message)}.number
  LIMIT 1`

/** What WhatsApp tells a device of a contact. */
export type LearntContact = {
  fence: Fence
  deviceId: number
  lidJid: string
  /** Null when it does not tell it, which is no news. */
  number: string | null
  username?: string | null
}

/** How many messages of one contact move to its number at once: waiting ones first, then the newest. */
const movedMax = 1000

/**
 * Stores what was learnt in one fenced statement. What was stored under a LID moves to the number that was learnt: messages,
 * opt-outs, and the contacts that count towards a budget. Returns an error for each whose owner had lost its shard; it was
 * not stored.
 */
export async function learnContacts(
  db: Database,
  learnt: LearntContact[],
): Promise<(OwnershipLost | undefined)[]> {
  const sql = db.$client
  const given = numberedRows(sql, 'given', learnt, {
    ...leaseColumns,
    device_id: ['int', ({ deviceId }) => deviceId],
    lid_jid: ['text', ({ lidJid }) => lidJid],
    number: ['text', ({ number }) => number],
    username: ['text', ({ username }) => username ?? null],
  })
  const valid = await sql<{ lease: string }[]>`
    WITH valid AS (${fencesOf(
      sql,
      learnt.map(({ fence }) => fence),
    )}),
    learnt AS MATERIALIZED (
      SELECT DISTINCT ON (account_id, lid_jid) device.account_id, given.lid_jid, given.number, given.username
      FROM valid JOIN ${given} USING (shard, epoch) JOIN devices AS device ON device.id = given.device_id
      -- In one order everywhere: statements that lock rows in different orders could deadlock.
      ORDER BY account_id, lid_jid, (given.number IS NOT NULL) DESC, position DESC
    ),
    stored AS (
      INSERT INTO contacts AS known (account_id, lid_jid, number, username)
      SELECT * FROM learnt
      ON CONFLICT ON CONSTRAINT contacts_pk DO UPDATE SET
        number = coalesce(excluded.number, known.number), username = coalesce(excluded.username, known.username),
        seen_on = CURRENT_DATE
      WHERE (coalesce(excluded.number, known.number), coalesce(excluded.username, known.username), known.seen_on)
        IS DISTINCT FROM (known.number, known.username, CURRENT_DATE)
    ),
    -- A number belongs to one person at a time.
    former AS (
      UPDATE contacts AS former SET number = NULL FROM learnt
      WHERE former.account_id = learnt.account_id AND former.number = learnt.number AND former.lid_jid <> learnt.lid_jid
        AND (former.account_id, former.lid_jid) NOT IN (SELECT account_id, lid_jid FROM learnt)
    ),
    -- Nothing is stored under a LID that had no row.
    pairs AS MATERIALIZED (
      SELECT learnt.account_id, learnt.lid_jid, learnt.number FROM learnt JOIN contacts USING (account_id, lid_jid)
      WHERE learnt.number IS NOT NULL
    ),
    ${movedToNumber(sql)}
    SELECT shard || ' ' || epoch AS lease FROM valid`
  return lostWrites(
    learnt,
    valid.map(({ lease }) => lease),
  )
}

/** SQL: steps that move what is stored under the LIDs of `pairs` to their numbers. */
const movedToNumber = (sql: postgres.Sql) => sql`
  -- Locked in the order in which outcomes lock them: a contact who reads several messages and writes does both.
  locked AS MATERIALIZED (
    SELECT message.id, message.created_at, found.number
    FROM pairs CROSS JOIN LATERAL (
      SELECT id, created_at, pairs.number FROM messages
      WHERE messages.account_id = pairs.account_id AND messages.number = pairs.lid_jid
      ORDER BY is_waiting DESC, created_at DESC LIMIT ${movedMax}
    ) AS found
    JOIN messages AS message ON message.id = found.id AND message.created_at = found.created_at
    ORDER BY message.id FOR NO KEY UPDATE OF message
  ),
  moved_messages AS (
    UPDATE messages AS message SET number = locked.number FROM locked
    WHERE message.id = locked.id AND message.created_at = locked.created_at
  ),
  moved_opt_outs AS (
    DELETE FROM opt_outs USING pairs
    WHERE opt_outs.account_id = pairs.account_id AND opt_outs.number = pairs.lid_jid
    RETURNING pairs.account_id, pairs.number, opt_outs.created_at
  ),
  opted_out AS (
    INSERT INTO opt_outs (account_id, number, created_at)
    SELECT account_id, number, created_at FROM moved_opt_outs AS moved
    WHERE NOT EXISTS (
      SELECT FROM opt_outs AS known WHERE known.account_id = moved.account_id
        AND known.number IN (SELECT form FROM ${numberForms(sql, sql`moved.number`)} AS forms (form)))
    ORDER BY account_id, number
    ON CONFLICT ON CONSTRAINT opt_outs_pk DO NOTHING
  ),
  moved_new_contacts AS (
    DELETE FROM new_contacts USING pairs, devices AS device
    WHERE device.account_id = pairs.account_id AND new_contacts.device_id = device.id
      AND new_contacts.number = pairs.lid_jid
    RETURNING device_id, pairs.number, new_contacts.created_at
  ),
  counted AS (
    INSERT INTO new_contacts AS known (device_id, number, created_at)
    SELECT device_id, (SELECT min(form) FROM ${numberForms(sql, sql`moved.number`)} AS forms (form)), max(created_at)
    FROM moved_new_contacts AS moved GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT ON CONSTRAINT new_contacts_pk DO UPDATE SET created_at = greatest(known.created_at, excluded.created_at)
  )`

/** SQL: inserts or renews the contacts of what a statement stores (`account_id`, `contact_key`) under LIDs. */
export const seenLids = (sql: postgres.Sql, stored: postgres.Fragment) => sql`
  INSERT INTO contacts (account_id, lid_jid)
  SELECT DISTINCT account_id, contact_key FROM (${stored}) AS stored WHERE contact_key LIKE '%@lid'
  ORDER BY account_id, contact_key
  ON CONFLICT ON CONSTRAINT contacts_pk DO UPDATE SET seen_on = CURRENT_DATE WHERE contacts.seen_on < CURRENT_DATE`
