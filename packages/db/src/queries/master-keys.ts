import type { Database } from '../client.ts'

/** Ids of the master keys by which stored values may be encrypted. */
export async function listUsedMasterKeys(db: Database): Promise<string[]> {
  const rows = await db.$client<{ id: string }[]>`SELECT id FROM master_keys ORDER BY used_since, id`
  return rows.map(({ id }) => id)
}

/** To be called before anything is encrypted by it. */
export async function noteMasterKey(db: Database, id: string): Promise<void> {
  await db.$client`INSERT INTO master_keys (id) VALUES (${id}) ON CONFLICT DO NOTHING`
}

/** Those that are neither kept nor used by a worker that runs. */
export async function forgetMasterKeys(db: Database, { except }: { except: string[] }): Promise<void> {
  await db.$client`
    DELETE FROM master_keys WHERE id <> ALL(${except}::text[])
      AND NOT EXISTS (SELECT FROM workers WHERE master_key_id = master_keys.id AND state <> 'dead')`
}

/** Workers that run and encrypt by another key. */
export async function listWorkersWithOtherKeys(
  db: Database,
  current: string,
): Promise<{ name: string; masterKeyId: string }[]> {
  return db.$client<{ name: string; masterKeyId: string }[]>`
    SELECT name, master_key_id AS "masterKeyId" FROM workers
    WHERE state <> 'dead' AND lease_until > now() AND master_key_id <> ${current} ORDER BY name`
}

/** Whether a value is encrypted by one of these keys. Reads all of them: for when something is wrong. */
export async function isEncryptedBy(db: Database, keyIds: string[]): Promise<boolean> {
  const sql = db.$client
  const isOneOf = (column: string) =>
    sql`encode(substring(${sql(column)} FROM 2 FOR 4), 'hex') = ANY(${keyIds})`
  const [row] = await sql<{ is: boolean }[]>`
    SELECT EXISTS (SELECT FROM device_auth WHERE ${isOneOf('value')})
      OR EXISTS (SELECT FROM messages WHERE ${isOneOf('uploaded_content')}) AS is`
  return row?.is ?? false
}
