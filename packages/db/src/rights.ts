import type postgres from 'postgres'

/** The roles of an installation. Each is named after its database, such as `wagate_api`. */
export type DatabaseRole = 'migrate' | 'api' | 'worker'

type Rights = { [table: string]: string }

/**
 * They contain media keys, the passwords of proxies and the secrets of webhooks, which only workers need, and the hashes
 * of passwords, which only the API needs.
 */
const secretColumns = ['uploaded_content', 'sealed', 'password_hash']

/**
 * The rights of the running processes' roles. The role `migrate` owns everything. The roles cannot access a table that is
 * not listed here, and a test fails until it is listed. `columns` is replaced by all columns but the secret ones.
 */
export const rights: Record<Exclude<DatabaseRole, 'migrate'>, Rights> = {
  api: {
    account_deletions: 'SELECT, INSERT, DELETE',
    accounts: 'SELECT, INSERT, UPDATE',
    api_keys: 'SELECT, INSERT, UPDATE',
    audit_log: 'INSERT',
    client_versions: '',
    contacts: 'SELECT, INSERT, UPDATE (seen_on)',
    device_auth: 'SELECT (device_id, type, id, used_on)',
    device_proxies: 'SELECT (columns), INSERT, UPDATE, DELETE',
    devices: 'SELECT, INSERT, UPDATE',
    event_clock: 'SELECT',
    event_epochs: 'SELECT',
    events: 'SELECT, INSERT',
    idempotency_keys: 'SELECT, INSERT, UPDATE',
    installation: 'SELECT',
    mailed_links: 'SELECT, INSERT, DELETE',
    master_keys: 'SELECT',
    media_blobs: 'SELECT (message_id, account_id, created_at), INSERT, DELETE',
    media_parts: 'SELECT, INSERT, DELETE',
    media_usage: 'SELECT',
    message_counts: 'SELECT',
    messages: 'SELECT (columns), INSERT, UPDATE (status, timeline)',
    new_contacts: 'SELECT',
    opt_ins: 'SELECT, INSERT, UPDATE',
    opt_outs: 'SELECT, INSERT, UPDATE (origin, asked_at, reason, source), DELETE',
    pairing_links: 'SELECT, INSERT, UPDATE (session_hash)',
    read_requests: 'SELECT, INSERT',
    received_media: 'SELECT (columns)',
    sessions: 'SELECT, INSERT',
    shard_leases: 'SELECT',
    stream_tokens: 'SELECT, INSERT, DELETE',
    uploaded_media: 'SELECT, INSERT, UPDATE (stored_at, expires_at), DELETE',
    webhook_attempts: 'SELECT',
    webhook_deliveries: 'SELECT, INSERT, UPDATE',
    webhook_dispatchers: '',
    webhook_secrets: 'SELECT (columns), INSERT, UPDATE, DELETE',
    webhooks: 'SELECT, INSERT, UPDATE, DELETE',
    workers: 'SELECT',
    write_keys: '',
  },
  worker: {
    account_deletions: 'SELECT, UPDATE (deleted)',
    accounts: 'SELECT (columns)',
    api_keys: '',
    audit_log: '',
    client_versions: 'SELECT, INSERT, UPDATE, DELETE',
    contacts: 'SELECT, INSERT, UPDATE, DELETE',
    device_auth: 'SELECT, INSERT, UPDATE, DELETE',
    device_proxies: 'SELECT, UPDATE, DELETE',
    devices: 'SELECT, UPDATE, DELETE',
    event_clock: 'SELECT',
    event_epochs: 'SELECT',
    events: 'SELECT, INSERT',
    idempotency_keys: '',
    installation: 'SELECT, UPDATE (signal_format, client_version_due_at)',
    mailed_links: '',
    master_keys: 'SELECT, INSERT, UPDATE, DELETE',
    media_blobs: 'SELECT, DELETE',
    media_parts: 'SELECT, DELETE',
    media_usage: '',
    message_counts: 'SELECT, INSERT, UPDATE, DELETE',
    messages: 'SELECT, INSERT, UPDATE',
    new_contacts: 'SELECT, INSERT, UPDATE, DELETE',
    opt_ins: 'SELECT, INSERT, UPDATE, DELETE',
    opt_outs: 'SELECT, INSERT, UPDATE (origin, asked_at), DELETE',
    pairing_links: '',
    read_requests: 'SELECT, DELETE',
    received_media: 'SELECT, INSERT, UPDATE, DELETE',
    sessions: '',
    shard_leases: 'SELECT, UPDATE',
    stream_tokens: '',
    uploaded_media: 'SELECT, DELETE',
    webhook_attempts: 'SELECT, INSERT, DELETE',
    webhook_deliveries: 'SELECT, INSERT, UPDATE, DELETE',
    webhook_dispatchers: 'SELECT, INSERT, UPDATE, DELETE',
    webhook_secrets: 'SELECT, UPDATE',
    webhooks: 'SELECT, UPDATE',
    workers: 'SELECT, INSERT, UPDATE, DELETE',
    write_keys: 'SELECT, INSERT',
  },
}

/**
 * Gives the existing roles exactly these rights, in one transaction, which running processes do not notice. The owner must
 * run it after every migration.
 */
export async function grantRights(client: postgres.Sql): Promise<void> {
  await client.begin(async (sql) => {
    for (const [role, tables] of Object.entries(rights)) {
      const name = await findRole(sql, role)
      if (!name) continue
      await sql.unsafe(`
        REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${name};
        GRANT USAGE ON SCHEMA public, drizzle TO ${name};
        GRANT SELECT ON drizzle.__drizzle_migrations TO ${name};
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${name}`)
      for (const [table, granted] of Object.entries(tables)) {
        if (granted === '') continue
        const allowed = granted.includes('(columns)') ? await listOpenColumns(sql, table) : ''
        await sql.unsafe(`GRANT ${granted.replace('columns', allowed)} ON ${table} TO ${name}`)
      }
    }
  })
}

/** Quoted. Undefined when the installation has no such role. */
async function findRole(sql: postgres.ISql, role: string): Promise<string | undefined> {
  const [found] = await sql<{ name: string }[]>`
    SELECT quote_ident(rolname) AS name FROM pg_roles WHERE rolname = current_database() || '_' || ${role}`
  return found?.name
}

async function listOpenColumns(sql: postgres.ISql, table: string): Promise<string> {
  const [row] = await sql<{ names: string }[]>`
    SELECT string_agg(quote_ident(attname), ', ') AS names FROM pg_attribute
    WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped
      AND attname <> ALL (${secretColumns})`
  return row?.names ?? ''
}
