import type { Database } from '../../client.ts'
import { beginning, type DeletedBatch, tryLock } from './housekeeping.ts'

const contactsMax = 5000
const accountsMax = 200
const messagesMax = 1000

/**
 * Contacts that were not seen for as long as messages are kept. Those that have opted out stay, so that an opt-out counts for
 * a number that is learnt later.
 */
export async function deleteOldContacts(
  db: Database,
  retentionDays: number,
  after: string,
): Promise<DeletedBatch> {
  const sql = db.$client
  const [accountId, lidJid] = after === beginning ? [0, ''] : (JSON.parse(after) as [number, string])
  const [row] = await sql<{ deleted: number; last: string | null }[]>`
    WITH turn AS MATERIALIZED (${tryLock(db)}),
    scanned AS MATERIALIZED (
      SELECT * FROM contacts
      WHERE (SELECT is_ours FROM turn) AND (account_id, lid_jid) > (${accountId}::int, ${lidJid}::text)
      ORDER BY account_id, lid_jid LIMIT ${contactsMax}
    ),
    deleted AS (
      DELETE FROM contacts USING scanned
      WHERE contacts.account_id = scanned.account_id AND contacts.lid_jid = scanned.lid_jid
        -- Messages are dropped week by week.
        AND contacts.seen_on < CURRENT_DATE - ${retentionDays + 7}::int
        AND NOT EXISTS (
          SELECT FROM opt_outs WHERE opt_outs.account_id = scanned.account_id AND opt_outs.number = scanned.lid_jid)
      RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM deleted) AS deleted,
      (SELECT jsonb_build_array(account_id, lid_jid)::text FROM scanned
        ORDER BY account_id DESC, lid_jid DESC LIMIT 1) AS last`
  return { deleted: row?.deleted ?? 0, next: row?.last ?? undefined }
}

/**
 * Gives messages of LIDs their key: workers of the version before this one store them without a number. `deleted` counts them.
 * Can be removed when no such worker can be running, and no such message is kept.
 */
export async function keyHiddenMessages(db: Database, after: string): Promise<DeletedBatch> {
  const sql = db.$client
  const accountId = after === beginning ? 0 : Number(after)
  const [row] = await sql<{ keyed: number; last: number | null }[]>`
    WITH turn AS MATERIALIZED (${tryLock(db)}),
    scanned AS MATERIALIZED (
      SELECT id FROM accounts WHERE (SELECT is_ours FROM turn) AND id > ${accountId} ORDER BY id LIMIT ${accountsMax}
    ),
    found AS MATERIALIZED (
      SELECT message.*, known.number AS known_number FROM (
        SELECT of_account.* FROM scanned CROSS JOIN LATERAL (
          SELECT id, created_at, account_id, recipient_jid FROM messages
          WHERE messages.account_id = scanned.id AND messages.number = '' AND recipient_jid LIKE '%@lid'
          LIMIT ${messagesMax}
        ) AS of_account
        -- Of all accounts together: a statement takes 4 s at most.
        LIMIT ${messagesMax}
      ) AS message
      LEFT JOIN contacts AS known ON known.account_id = message.account_id AND known.lid_jid = message.recipient_jid
    ),
    seen AS (
      INSERT INTO contacts (account_id, lid_jid) SELECT DISTINCT account_id, recipient_jid FROM found
      ORDER BY account_id, recipient_jid
      ON CONFLICT ON CONSTRAINT contacts_pk DO NOTHING
    ),
    keyed AS (
      UPDATE messages SET number = coalesce(found.known_number, found.recipient_jid) FROM found
      WHERE messages.id = found.id AND messages.created_at = found.created_at
      RETURNING 1
    )
    SELECT (SELECT count(*)::int FROM keyed) AS keyed, (SELECT max(id) FROM scanned) AS last`
  const { keyed = 0, last = null } = row ?? {}
  // The same accounts may have more.
  if (keyed > 0) return { deleted: keyed, next: after }
  return { deleted: 0, next: last === null ? undefined : String(last) }
}
