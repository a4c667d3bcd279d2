import { lidOf } from '@wagate/shared/contact-key'
import { phoneForms } from '@wagate/shared/phone'
import { and, asc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { optOuts } from '../../schema/opt-outs.ts'
import { askedSteps, type Consent } from './consent-steps.ts'
import { knownOf } from './known-contacts.ts'
import { formsOf, numberForms } from './number-forms.ts'

/** `key`: of the contact (contact-key.ts). `contact`: what the account knows of it besides. */
export type OptOut = {
  key: string
  createdAt: Date
  contact: { lidJid: string; username: string | null } | null
} & Provenance

/** Why a contact has opted out, and where that comes from, as the caller says. */
export type Provenance = { reason: string | null; source: string | null }

const columns = {
  key: optOuts.number,
  createdAt: optOuts.createdAt,
  reason: optOuts.reason,
  source: optOuts.source,
  contact: knownOf('opt_outs', 'number'),
}

/**
 * In the order of the keys, from the one that follows `after`. A person who has opted out under number and LID is listed once,
 * by the number.
 */
export function listOptOuts(
  db: Database,
  accountId: number,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<OptOut[]> {
  const rest = after === undefined ? undefined : gt(optOuts.number, after)
  const isListedByNumber = sql`EXISTS (
    SELECT FROM contacts AS known CROSS JOIN LATERAL ${sql.raw(formsOf('known.number'))} AS forms (form)
    JOIN opt_outs AS other ON other.account_id = known.account_id AND other.number = form
    WHERE known.account_id = ${optOuts.accountId} AND known.lid_jid = ${optOuts.number})`
  return db
    .select(columns)
    .from(optOuts)
    .where(and(eq(optOuts.accountId, accountId), rest, sql`NOT ${isListedByNumber}`))
    .orderBy(asc(optOuts.number))
    .limit(limit)
}

type Transaction = Pick<Database, 'execute' | 'select'>

/**
 * The account must not write to the contact of this key any more. Changes nothing when that is so already. A contact that was
 * named by its LID is that person also when its number is known.
 */
export async function insertOptOut(
  db: Transaction,
  accountId: number,
  key: string,
  provenance: Provenance = { reason: null, source: null },
): Promise<{ optOut: OptOut; isNew: boolean }> {
  if (lidOf(key) !== null)
    await db.execute(sql`
      INSERT INTO contacts (account_id, lid_jid) VALUES (${accountId}, ${key})
      ON CONFLICT ON CONSTRAINT contacts_pk DO NOTHING`)
  const isNew = (await ask(db, accountId, [key], 'opt-out')) > 0
  await setProvenance(db, accountId, [key], provenance)
  const [optOut] = await db
    .select(columns)
    .from(optOuts)
    .where(ofPerson(accountId, key))
    .orderBy(sql`${optOuts.number} LIKE '%@lid'`)
    .limit(1)
  if (!optOut) throw new Error('The opt-out was not stored')
  return { optOut, isNew }
}

/** The same for many numbers. Returns how many had not opted out. */
export async function insertOptOuts(
  db: Pick<Database, 'execute'>,
  accountId: number,
  numbers: string[],
  provenance: Provenance,
): Promise<number> {
  const changed = await ask(db, accountId, numbers, 'opt-out')
  await setProvenance(db, accountId, numbers, provenance)
  return changed
}

/** The account may write to the contact again. False when it might before. */
export const deleteOptOut = async (db: Pick<Database, 'execute'>, accountId: number, key: string) =>
  (await ask(db, accountId, [key], 'opt-in')) > 0

/** The same for many numbers. Returns how many had opted out. */
export const deleteOptOuts = (db: Pick<Database, 'execute'>, accountId: number, numbers: string[]) =>
  ask(db, accountId, numbers, 'opt-in')

/** How many people it changed. */
async function ask(
  db: Pick<Database, 'execute'>,
  accountId: number,
  keys: string[],
  consent: Consent,
): Promise<number> {
  const told = await db.execute(sql`
    WITH asked AS MATERIALIZED (
      SELECT ${accountId}::int AS account_id, key, NULL::text AS number, ${consent}::text AS consent
      FROM json_array_elements_text(${JSON.stringify(keys)}::json) AS keys (key)
    ),
    ${sql.raw(askedSteps)}
    SELECT type FROM told_consents`)
  return told.length
}

/** Without a new one, the earlier one stays. */
async function setProvenance(
  db: Pick<Database, 'execute'>,
  accountId: number,
  keys: string[],
  { reason, source }: Provenance,
): Promise<void> {
  if (reason === null && source === null) return
  const forms = JSON.stringify(keys.flatMap(phoneForms))
  await db.execute(sql`
    UPDATE opt_outs SET reason = coalesce(${reason}, reason), source = coalesce(${source}, source)
    FROM (
      SELECT account_id, opt_outs.number
      FROM json_array_elements_text(${forms}::json) AS forms (form)
      JOIN opt_outs ON opt_outs.number = form OR opt_outs.origin = form
      WHERE account_id = ${accountId} ORDER BY account_id, opt_outs.number FOR UPDATE OF opt_outs
    ) AS asked
    WHERE opt_outs.account_id = asked.account_id AND opt_outs.number = asked.number`)
}

/** Under every key of the person that is known. */
const ofPerson = (accountId: number, key: string): SQL => sql`
  ${optOuts.accountId} = ${accountId} AND ${optOuts.number} IN (
    SELECT form FROM (VALUES ${sql.join(
      phoneForms(key).map((form) => sql`(${form}::text)`),
      sql`, `,
    )}) AS forms (form)
    UNION ALL
    SELECT form FROM contacts AS known CROSS JOIN LATERAL ${sql.raw(formsOf('known.number'))} AS forms (form)
    WHERE known.account_id = ${accountId} AND known.lid_jid = ${key}
    UNION ALL
    SELECT lid_jid FROM contacts AS known
    WHERE known.account_id = ${accountId} AND ${inArray(sql`known.number`, phoneForms(key))})`

/** SQL: whether the recipient of `message`, which WhatsApp knows by its `recipient_jid`, must not be written to. */
export const isOptedOut = (client: postgres.Sql) => client`EXISTS (
  SELECT FROM (
    SELECT form AS key FROM ${numberForms(client, 'message.number')} AS forms (form)
    UNION ALL
    VALUES (split_part(message.recipient_jid, '@', 1)), (message.recipient_jid)
    -- For what was stored while the number was being learnt.
    UNION ALL
    SELECT form FROM contacts AS known CROSS JOIN LATERAL ${numberForms(client, 'known.number')} AS forms (form)
    WHERE known.account_id = message.account_id AND known.lid_jid = message.recipient_jid
    UNION ALL
    SELECT known.lid_jid FROM ${numberForms(client, 'message.number')} AS forms (form) JOIN contacts AS known
      ON known.account_id = message.account_id AND known.number = form
  ) AS person JOIN opt_outs AS opted ON opted.account_id = message.account_id AND opted.number = person.key)`
