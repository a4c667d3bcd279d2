import { lidOf, numberOf } from '@wagate/shared/contact-key'
import { phoneForms, subscriberOf } from '@wagate/shared/phone'
import { sql as drizzleSql } from 'drizzle-orm'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { formsOf, numberForms } from './number-forms.ts'

/** `key`: under which its messages, opt-outs and counts are stored (contact-key.ts). */
export type Contact = { key: string; number: string | null; lid: string | null; username: string | null }

/** A contact that the account need not know. */
export async function findContact(db: Database, accountId: number, key: string): Promise<Contact> {
  const sql = db.$client
  const [row] = await sql<{ lidJid: string; number: string | null; username: string | null }[]>`
    SELECT lid_jid AS "lidJid", number, username FROM contacts
    WHERE account_id = ${accountId} AND ${lidOf(key) === null ? sql`number = ANY (${phoneForms(key)}::text[])` : sql`lid_jid = ${key}`} LIMIT 1`
  const number = numberOf(key) ?? row?.number ?? null
  return { key: number ?? key, number, lid: lidOf(row?.lidJid ?? key), username: row?.username ?? null }
}

/** The same for numbers, in their order. */
export async function findContacts(db: Database, accountId: number, numbers: string[]): Promise<Contact[]> {
  const rows = await db.$client<{ lidJid: string; number: string; username: string | null }[]>`
    SELECT lid_jid AS "lidJid", number, username FROM contacts
    WHERE account_id = ${accountId} AND number = ANY (${numbers.flatMap(phoneForms)}::text[])`
  const known = new Map(rows.map((row) => [subscriberOf(row.number), row]))
  return numbers.map((number) => {
    const row = known.get(subscriberOf(number))
    return { key: number, number, lid: lidOf(row?.lidJid ?? number), username: row?.username ?? null }
  })
}

/** By LID, from the one that follows `after`. `seenOn`: a date. */
export async function listContacts(
  db: Database,
  accountId: number,
  { after, limit }: { after: string; limit: number },
): Promise<(Pick<Contact, 'number' | 'username'> & { lidJid: string; seenOn: string })[]> {
  return db.$client`
    SELECT lid_jid AS "lidJid", number, username, seen_on::text AS "seenOn" FROM contacts
    WHERE account_id = ${accountId} AND lid_jid > ${after} ORDER BY lid_jid LIMIT ${limit}`
}

/** SQL: what the account knows of the contact of a row, as one value of a select. `lidColumn` may have its LID. */
export const knownOf = (table: 'messages' | 'opt_outs', lidColumn: 'recipient_jid' | 'number') =>
  drizzleSql<{ lidJid: string; username: string | null } | null>`(
    SELECT json_build_object('lidJid', lid_jid, 'username', username) FROM (
      SELECT lid_jid, username FROM contacts WHERE contacts.account_id = ${drizzleSql.raw(table)}.account_id
        AND contacts.lid_jid = ${drizzleSql.raw(table)}.${drizzleSql.raw(lidColumn)}
      UNION ALL
      SELECT lid_jid, username FROM contacts WHERE contacts.account_id = ${drizzleSql.raw(table)}.account_id
        AND contacts.number IN (SELECT form FROM ${drizzleSql.raw(formsOf(`${table}.number`))} AS forms (form))
      LIMIT 1
    ) AS contact)`

/** SQL: the row of the contact of a message, a row of this name. For LATERAL. */
export const contactOf = (sql: postgres.Sql, message: string) => sql`
  SELECT lid_jid, username FROM contacts
  WHERE contacts.account_id = ${sql(message)}.account_id AND contacts.lid_jid = ${sql(message)}.recipient_jid
  UNION ALL
  SELECT lid_jid, username FROM contacts
  WHERE contacts.account_id = ${sql(message)}.account_id AND contacts.number IN (SELECT form FROM ${numberForms(sql, `${message}.number`)} AS forms (form))
  LIMIT 1`

/** SQL: inserts or renews the contacts of what a statement stores (`account_id`, `contact_key`) under LIDs. */
export const seenLids = (sql: postgres.Sql, stored: postgres.Fragment) => sql`
  INSERT INTO contacts (account_id, lid_jid)
  SELECT DISTINCT account_id, contact_key FROM (${stored}) AS stored WHERE contact_key LIKE '%@lid'
  ORDER BY account_id, contact_key
  ON CONFLICT ON CONSTRAINT contacts_pk DO UPDATE SET seen_on = CURRENT_DATE WHERE contacts.seen_on < CURRENT_DATE`
