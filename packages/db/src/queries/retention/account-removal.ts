import { and, eq, isNull, lte, sql } from 'drizzle-orm'
import type postgres from 'postgres'
import type { Database, Transaction } from '../../client.ts'
import { accountDeletions } from '../../schema/account-deletions.ts'
import { requestRemovalOfAll } from '../devices/device-desired-state.ts'
import { listPartitions, type PartitionedTable } from '../statements/partitions.ts'

/*
 * Deletes an account whose deletion is due:
 * 1. `beginAccountDeletion`: from now on it cannot be canceled. The owners of its senders log them out of WhatsApp.
 * 2. `listReadyDeletions` has it once they have, and nothing that began before it was disabled can still be running.
 * 3. `deleteRows` for every one of `deletionSteps`, and the files of its messages and uploads (account-files.ts).
 * 4. `finishAccountDeletion` once a whole pass has found nothing: the account itself.
 * Every statement counts what it deletes in `account_deletions`, and deletes nothing without a deletion that is under way. So
 * a process may be killed at any time, and several may do the same.
 */

/** How long WhatsApp may take to confirm the logouts. Afterwards, the account is deleted with links that may still exist. */
const logoutMax = '1 day'
/** For requests, downloads and writes of owners that began before the account was disabled. */
const settledAfter = '10 minutes'

/** The longest due first. */
export async function listDueDeletions(db: Database): Promise<number[]> {
  const due = await db
    .select({ accountId: accountDeletions.accountId })
    .from(accountDeletions)
    .where(and(isNull(accountDeletions.finishedAt), lte(accountDeletions.dueAt, sql`now()`)))
    .orderBy(accountDeletions.dueAt)
  return due.map(({ accountId }) => accountId)
}

/** May be repeated. */
export async function beginAccountDeletion(db: Database, accountId: number): Promise<void> {
  await db.transaction(async (tx) => {
    if (await markUnderWay(tx, accountId)) await requestRemovalOfAll(tx, accountId)
  })
}

async function markUnderWay(tx: Transaction, accountId: number): Promise<boolean> {
  const { deleted, dueAt, finishedAt } = accountDeletions
  const marked = await tx
    .update(accountDeletions)
    .set({ deleted: sql`'{"devices": 0}'::jsonb || ${deleted}` })
    .where(and(eq(accountDeletions.accountId, accountId), lte(dueAt, sql`now()`), isNull(finishedAt)))
    .returning({ accountId: accountDeletions.accountId })
  return marked.length > 0
}

/** Those that are under way, and whose rows and files can be deleted. */
export async function listReadyDeletions(db: Database): Promise<number[]> {
  const ready = await db.$client<{ accountId: number }[]>`
    SELECT account_id AS "accountId" FROM account_deletions AS deletion JOIN accounts ON accounts.id = account_id
    WHERE finished_at IS NULL AND deleted <> '{}' AND accounts.disabled_at < now() - ${settledAfter}::interval
      AND NOT EXISTS (
        SELECT FROM devices WHERE devices.account_id = deletion.account_id AND removed_at IS NULL
          AND coalesce(deleted_at, now()) > now() - ${logoutMax}::interval)
    ORDER BY due_at`
  return ready.map(({ accountId }) => accountId)
}

/** Kinds of rows, by the names under which they are counted. */
type Kind = { name: string; table: string; owned: Owned; max: number }
type Owned = (sql: postgres.ISql, accountId: number) => postgres.PendingQuery<postgres.Row[]>

const ofAccount: Owned = (sql, accountId) => sql`account_id = ${accountId}`
const ofDevices: Owned = (sql, accountId) =>
  sql`device_id IN (SELECT id FROM devices WHERE account_id = ${accountId})`
const ofWebhooks: Owned = (sql, accountId) =>
  sql`webhook_id IN (SELECT id FROM webhooks WHERE account_id = ${accountId})`
/** Its index begins with the day. */
const ofDays: Owned = (sql, accountId) => sql`
  account_id = ${accountId} AND day = ANY (ARRAY(
    SELECT generate_series(min(day), max(day), '1 day')::date FROM message_counts))`
/** Also invitations, and links for a sign-up that came to nothing. */
const toItsAddress: Owned = (sql, accountId) =>
  sql`(account_id = ${accountId} OR email = (SELECT email FROM accounts WHERE id = ${accountId}))`

const rowsMax = 1000
/** Each has up to 17 MB. */
const blobsMax = 20
/** Each has less than a megabyte. */
const partsMax = 400

const kind = (name: string, table: string, owned = ofAccount, max = rowsMax): Kind => ({
  name,
  table,
  owned,
  max,
})

/** Everything but the account itself and its files, rows before those that they refer to. */
export const deletionKinds: Kind[] = [
  kind('sender_keys', 'device_auth', ofDevices),
  kind('new_contacts', 'new_contacts', ofDevices),
  kind('read_requests', 'read_requests', ofDevices),
  kind('links', 'pairing_links', ofDevices),
  kind('proxies', 'device_proxies', ofDevices),
  kind('devices', 'devices'),
  kind('webhook_deliveries', 'webhook_deliveries', ofWebhooks),
  kind('webhook_attempts', 'webhook_attempts', ofWebhooks),
  kind('webhook_secrets', 'webhook_secrets', ofWebhooks),
  kind('webhooks', 'webhooks'),
  kind('waiting_files', 'media_blobs', ofAccount, blobsMax),
  kind('parts_of_files', 'media_parts', ofAccount, partsMax),
  kind('used_bytes', 'media_usage'),
  kind('messages', 'messages'),
  kind('events', 'events'),
  kind('statistics', 'message_counts', ofDays),
  kind('opt_outs', 'opt_outs'),
  kind('opt_ins', 'opt_ins'),
  kind('contacts', 'contacts'),
  kind('idempotency_keys', 'idempotency_keys'),
  kind('stream_tokens', 'stream_tokens'),
  kind('mailed_links', 'mailed_links', toItsAddress),
  kind('sessions', 'sessions'),
  kind('keys', 'api_keys'),
]

export type DeletionStep = Kind & { relation: string }

/** Messages and events are deleted partition by partition, each of which has an index by account. */
export async function listDeletionSteps(db: Database): Promise<DeletionStep[]> {
  const partitions = await listPartitions(db.$client)
  return deletionKinds.flatMap((each) => {
    if (!isPartitioned(each.table)) return { ...each, relation: each.table }
    return partitions
      .filter(({ table }) => table === each.table)
      .map(({ name }) => ({ ...each, relation: name }))
  })
}

const isPartitioned = (table: string): table is PartitionedTable => table === 'messages' || table === 'events'

/** A limited number. Returns how many: less than `max` when none is left. */
export async function deleteRows(db: Database, accountId: number, step: DeletionStep): Promise<number> {
  return whileUnderWay(db, accountId, async (sql) => {
    const relation = sql.unsafe(step.relation)
    const [row] = await sql<{ deleted: number }[]>`
      WITH old AS MATERIALIZED (
        SELECT ctid FROM ${relation} WHERE ${step.owned(sql, accountId)} LIMIT ${step.max}
      ),
      gone AS (DELETE FROM ${relation} WHERE ctid = ANY (ARRAY(SELECT ctid FROM old)) RETURNING 1)
      ${counted(sql, accountId, step.name)}
      RETURNING (SELECT count(*)::int FROM gone) AS deleted`
    return row?.deleted ?? 0
  })
}

/** The account itself. Call it when a whole pass over all steps has deleted nothing, and no file is left. */
export async function finishAccountDeletion(db: Database, accountId: number): Promise<boolean> {
  const finished = await whileUnderWay(db, accountId, async (sql) => {
    await sql`DELETE FROM accounts WHERE id = ${accountId}`
    const { count } =
      await sql`UPDATE account_deletions SET finished_at = now() WHERE account_id = ${accountId}`
    return count
  })
  return finished > 0
}

/**
 * Of several processes, one at a time does something. Each statement begins when it is its turn, so that it sees what the one
 * before has deleted: one that found only those rows would take them for the last. 0 when nothing is under way.
 */
function whileUnderWay(
  db: Database,
  accountId: number,
  work: (sql: postgres.TransactionSql) => Promise<number>,
): Promise<number> {
  return db.$client.begin(async (sql) => {
    const turn = await sql`
      SELECT FROM account_deletions
      WHERE account_id = ${accountId} AND deleted <> '{}' AND finished_at IS NULL FOR UPDATE`
    return turn.length === 0 ? 0 : work(sql)
  })
}

/** The end of a statement that deletes `gone`. */
export function counted(sql: postgres.ISql, accountId: number, name: string) {
  const count = sql`(SELECT count(*)::int FROM gone)`
  return sql`
    UPDATE account_deletions
    SET deleted = CASE WHEN ${count} = 0 THEN deleted
      ELSE deleted || jsonb_build_object(${name}::text, coalesce((deleted ->> ${name})::int, 0) + ${count}) END
    WHERE account_id = ${accountId} AND finished_at IS NULL`
}
