import { lidOf } from '@wagate/shared/contact-key'
import { eventTypes } from '@wagate/shared/event-types'
import { phoneForms } from '@wagate/shared/phone'
import { and, asc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { optOuts } from '../../schema/opt-outs.ts'
import { knownOf } from './known-contacts.ts'
import { numberForms } from './number-forms.ts'

/** `key`: of the contact (contact-key.ts). `contact`: what the account knows of it besides. */
export type OptOut = {
  key: string
  createdAt: Date
  contact: { lidJid: string; username: string | null } | null
}

const columns = {
  key: optOuts.number,
  createdAt: optOuts.createdAt,
  contact: knownOf('opt_outs', 'number'),
}

/** In the order of the keys, from the one that follows `after`. */
export function listOptOuts(
  db: Database,
  accountId: number,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<OptOut[]> {
  const rest = after === undefined ? undefined : gt(optOuts.number, after)
  return db
    .select(columns)
    .from(optOuts)
    .where(and(eq(optOuts.accountId, accountId), rest))
    .orderBy(asc(optOuts.number))
    .limit(limit)
}

/** The account must not write to the contact of this key any more. Changes nothing when that is so already. */
export async function insertOptOut(
  db: Pick<Database, 'execute' | 'select'>,
  accountId: number,
  key: string,
): Promise<{ optOut: OptOut; isNew: boolean }> {
  const own = ofContact(accountId, key)
  if (lidOf(key) !== null)
    await db.execute(sql`
      INSERT INTO contacts (account_id, lid_jid) VALUES (${accountId}, ${key})
      ON CONFLICT ON CONSTRAINT contacts_pk DO NOTHING`)
  const told = await db.execute(sql`
    WITH changed AS (
      INSERT INTO opt_outs (account_id, number)
      SELECT ${accountId}::int, ${key}::text
      WHERE NOT EXISTS (SELECT FROM opt_outs WHERE ${own})
      ON CONFLICT ON CONSTRAINT opt_outs_pk DO NOTHING RETURNING account_id, number
    )
    ${insertEvents('recipient.opted_out')} RETURNING id`)
  const [optOut] = await db.select(columns).from(optOuts).where(own).limit(1)
  if (!optOut) throw new Error('The opt-out was not stored')
  return { optOut, isNew: told.length > 0 }
}

/** The account may write to the contact again. False when it might before. */
export async function deleteOptOut(
  db: Pick<Database, 'execute'>,
  accountId: number,
  key: string,
): Promise<boolean> {
  const deleted = await db.execute(sql`
    WITH changed AS (
      DELETE FROM opt_outs WHERE ${ofContact(accountId, key)}
      RETURNING account_id, number
    ),
    told AS (${insertEvents('recipient.opted_in')})
    SELECT number FROM changed`)
  return deleted.length > 0
}

/** In either form of a number. */
function ofContact(accountId: number, key: string): SQL | undefined {
  return and(eq(optOuts.accountId, accountId), inArray(optOuts.number, phoneForms(key)))
}

const insertEvents = (type: 'recipient.opted_out' | 'recipient.opted_in'): SQL => sql`
  INSERT INTO events (account_id, type, data)
  SELECT account_id, ${eventTypes[type]}, jsonb_build_object('number', number) FROM changed`

/** SQL: whether the recipient of `message`, which WhatsApp knows by its `recipient_jid`, must not be written to. */
export const isOptedOut = (client: postgres.Sql) => client`EXISTS (
  SELECT FROM opt_outs AS opted WHERE opted.account_id = message.account_id AND (
    opted.number IN (SELECT form FROM ${numberForms(client, client`message.number`)} AS forms (form))
    OR opted.number IN (split_part(message.recipient_jid, '@', 1), message.recipient_jid)
    -- For a message that was stored under the LID while the number was being learnt.
    OR (message.recipient_jid LIKE '%@lid' AND opted.number IN (
      SELECT form FROM contacts AS known CROSS JOIN LATERAL ${numberForms(client, client`known.number`)} AS forms (form)
      WHERE known.account_id = message.account_id AND known.lid_jid = message.recipient_jid))))`
