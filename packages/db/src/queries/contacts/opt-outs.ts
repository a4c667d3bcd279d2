import { eventTypes } from '@wagate/shared/event-types'
import { phoneForms } from '@wagate/shared/phone'
import { and, asc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { optOuts } from '../../schema/opt-outs.ts'
import { numberForms } from './number-forms.ts'

export type OptOut = Pick<typeof optOuts.$inferSelect, 'number' | 'createdAt'>

const columns = { number: optOuts.number, createdAt: optOuts.createdAt }

/** In the order of the numbers, from the one that follows `after`. */
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

/** The account must not write to this number any more. Changes nothing when that is so already. */
export async function insertOptOut(
  db: Pick<Database, 'execute' | 'select'>,
  accountId: number,
  number: string,
): Promise<{ optOut: OptOut; isNew: boolean }> {
  const own = ofNumber(accountId, number)
  const told = await db.execute(sql`
    WITH changed AS (
      INSERT INTO opt_outs (account_id, number)
      SELECT ${accountId}::int, ${number}::text
      WHERE NOT EXISTS (SELECT FROM opt_outs WHERE ${own})
      ON CONFLICT ON CONSTRAINT opt_outs_pk DO NOTHING RETURNING account_id, number
    )
    ${insertEvents('recipient.opted_out')} RETURNING id`)
  const [optOut] = await db.select(columns).from(optOuts).where(own).limit(1)
  if (!optOut) throw new Error('The opt-out was not stored')
  return { optOut, isNew: told.length > 0 }
}

/** The account may write to this number again. False when it might before. */
export async function deleteOptOut(
  db: Pick<Database, 'execute'>,
  accountId: number,
  number: string,
): Promise<boolean> {
  const deleted = await db.execute(sql`
    WITH changed AS (
      DELETE FROM opt_outs WHERE ${ofNumber(accountId, number)}
      RETURNING account_id, number
    ),
    told AS (${insertEvents('recipient.opted_in')})
    SELECT number FROM changed`)
  return deleted.length > 0
}

/** In either form of the number. */
function ofNumber(accountId: number, number: string): SQL | undefined {
  return and(eq(optOuts.accountId, accountId), inArray(optOuts.number, phoneForms(number)))
}

const insertEvents = (type: 'recipient.opted_out' | 'recipient.opted_in'): SQL => sql`
  INSERT INTO events (account_id, type, data)
  SELECT account_id, ${eventTypes[type]}, jsonb_build_object('number', number) FROM changed`

/** SQL: whether the recipient of `message`, which WhatsApp knows by its `recipient_jid`, must not be written to. */
export const isOptedOut = (client: postgres.Sql) => client`EXISTS (
  SELECT FROM opt_outs AS opted WHERE opted.account_id = message.account_id AND (
    opted.number IN (SELECT form FROM ${numberForms(client, client`message.number`)} AS forms (form))
    OR opted.number = split_part(message.recipient_jid, '@', 1)))`
