import type { Database } from '@wagate/db/client'

/** The rows that a test has made for an account, and by which values they refer to it. */
export type AccountRows = {
  accountId: number
  deviceId: number
  webhookId: number
  keyId: number
  email: string
}

type Column = { table: string; name: string; type: string; isRequired: boolean }
type References = { table: string; to: string }[]

/** Stays: what an account did, and the proof of its deletion. */
export const keptTables = ['account_deletions', 'audit_log']

/** Columns that refer to rows of an account, whichever table they are in. */
const referring = /^(.*_)?(account|device|webhook|message|upload|media|key)_ids?$/
/** These do not: a key of encryption, and the mark of a write. */
const unrelated = ['master_keys', 'write_keys', 'workers']

/** A value that the database accepts for a column, where its type alone does not say it. */
const values: Record<string, string> = {
  'accounts.role': `'USER'`,
  'devices.sender': `'15552070' || nextval('messages_seq')`,
  'mailed_links.purpose': `'new-password'`,
  'messages.direction': `'out'`,
  'messages.status': `'sent'`,
  'messages.type': `'text'`,
  'received_media.state': `'stored'`,
  'uploaded_media.sha256': `decode(repeat('ab', 32), 'hex')`,
  'webhooks.tx': `'1'`,
}

async function listColumns({ $client: sql }: Database): Promise<Column[]> {
  return sql<Column[]>`
    SELECT relname AS table, attname AS name, format_type(atttypid, atttypmod) AS type,
      attnotnull AND NOT atthasdef AND attidentity = '' AS "isRequired"
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
      AND attnum > 0 AND NOT attisdropped
    ORDER BY relname, attnum`
}

async function listReferences({ $client: sql }: Database): Promise<References> {
  return sql<References>`
    SELECT DISTINCT conrelid::regclass::text AS table, confrelid::regclass::text AS to FROM pg_constraint
    WHERE contype = 'f' AND conparentid = 0`
}

/** Every table with a column that refers to an account or to something of it, or with a foreign key to such a table. */
export async function listTablesOfAccounts(db: Database): Promise<string[]> {
  const found = new Set(['accounts'])
  for (const { table, name } of await listColumns(db)) {
    if (referring.test(name) && !unrelated.includes(table)) found.add(table)
  }
  const references = await listReferences(db)
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const { table, to } of references) if (found.has(to)) found.add(table)
  }
  return [...found].sort()
}

/** Inserts a row of an account into every such table. */
export async function addAccountRows(db: Database, email: string): Promise<AccountRows> {
  const sql = db.$client
  const columns = await listColumns(db)
  const rows: AccountRows = { accountId: 0, deviceId: 0, webhookId: 0, keyId: 0, email }

  async function insert(table: string, returned?: keyof AccountRows): Promise<void> {
    const required = columns.filter(
      (column) => column.table === table && (column.isRequired || knownOf(column, rows) !== undefined),
    )
    const names = required.map(({ name }) => `"${name}"`)
    const given = required.map((column) => knownOf(column, rows) ?? generate(column))
    const [row] = await sql.unsafe<{ id?: number }[]>(
      `INSERT INTO ${table} (${names}) VALUES (${given}) RETURNING *`,
    )
    if (returned) Object.assign(rows, { [returned]: row?.id })
  }

  await insert('accounts', 'accountId')
  await insert('devices', 'deviceId')
  await insert('webhooks', 'webhookId')
  await insert('api_keys', 'keyId')
  const first = ['accounts', 'devices', 'webhooks', 'api_keys']
  // A trigger maintains it.
  const made = [...first, ...keptTables, 'media_usage']
  for (const table of await listTablesOfAccounts(db)) if (!made.includes(table)) await insert(table)
  return rows
}

/** What a column of this account's rows has. */
function knownOf({ table, name }: Column, rows: AccountRows): string | undefined {
  const known: Record<string, string | number> = {
    account_id: rows.accountId,
    device_id: rows.deviceId,
    webhook_id: rows.webhookId,
    key_id: rows.keyId,
    email: `'${rows.email}'`,
  }
  if (table === 'devices' && name === 'id') return `nextval('devices_id_seq')`
  return known[name] === undefined ? undefined : String(known[name])
}

function generate({ table, name, type }: Column): string {
  const known = values[`${table}.${name}`]
  if (known !== undefined) return known
  if (type.startsWith('timestamp') || type === 'date') return 'now()'
  if (type === 'uuid') return 'gen_random_uuid()'
  if (type === 'boolean') return 'false'
  if (type === 'bytea') return `decode(md5(random()::text), 'hex')`
  if (type.endsWith('[]')) return `'{}'`
  if (type === 'jsonb') return `'{}'`
  if (type === 'text') return `'x'`
  return '1'
}

/** The rows that refer to the account, as text, by table. */
export async function dumpAccount(db: Database, rows: AccountRows): Promise<Map<string, string[]>> {
  const columns = await listColumns(db)
  const dump = new Map<string, string[]>()
  for (const table of await listTablesOfAccounts(db)) {
    if (keptTables.includes(table)) continue
    const own = columns.filter((column) => column.table === table)
    const conditions = own.flatMap((column) => {
      const value = column.name === 'id' ? undefined : knownOf(column, rows)
      return value === undefined ? [] : [`"${column.name}" = ${value}`]
    })
    const found = await db.$client.unsafe<{ row: string }[]>(
      `SELECT to_jsonb(given)::text AS row FROM ${table} AS given WHERE ${conditions.join(' OR ')} ORDER BY 1`,
    )
    dump.set(
      table,
      found.map(({ row }) => row),
    )
  }
  return dump
}
