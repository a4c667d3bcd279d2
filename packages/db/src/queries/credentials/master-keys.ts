import type { Database } from '../../client.ts'
import { isNotDead, isRunning } from '../statements/worker-state.ts'

/** Ids of the master keys by which stored values may be encrypted. */
export async function listUsedMasterKeys(db: Database): Promise<string[]> {
  const rows = await db.$client<{ id: string }[]>`SELECT id FROM master_keys ORDER BY used_since, id`
  return rows.map(({ id }) => id)
}

/** Call it before the first value is encrypted by this key. */
export async function recordMasterKey(db: Database, id: string, proxyPublicKey: Buffer): Promise<void> {
  await db.$client`
    INSERT INTO master_keys (id, proxy_public_key) VALUES (${id}, ${proxyPublicKey})
    ON CONFLICT (id) DO UPDATE SET proxy_public_key = excluded.proxy_public_key
    WHERE master_keys.proxy_public_key IS NULL`
}

export type ProxyKey = { masterKeyId: string; publicKey: Buffer }

/** For which proxies are encrypted: the newest that a running worker has. Undefined before the first worker has started. */
export async function findProxyKey(db: Database): Promise<ProxyKey | undefined> {
  const sql = db.$client
  const [found] = await sql<ProxyKey[]>`
    SELECT id AS "masterKeyId", proxy_public_key AS "publicKey" FROM master_keys
    WHERE proxy_public_key IS NOT NULL
    ORDER BY EXISTS (
      SELECT FROM workers WHERE master_key_id = master_keys.id AND ${sql.unsafe(isRunning('workers'))}
    ) DESC, used_since DESC LIMIT 1`
  return found
}

/** Deletes the ids of all keys but the given ones and those of workers that are not dead. */
export async function deleteMasterKeys(db: Database, { except }: { except: string[] }): Promise<void> {
  const sql = db.$client
  await sql`
    DELETE FROM master_keys WHERE id <> ALL(${except}::text[])
      AND NOT EXISTS (SELECT FROM workers WHERE master_key_id = master_keys.id AND ${sql.unsafe(isNotDead('workers'))})`
}

/** Running workers that encrypt by another key. */
export async function listWorkersWithOtherKeys(
  db: Database,
  current: string,
): Promise<{ name: string; masterKeyId: string }[]> {
  const sql = db.$client
  return sql<{ name: string; masterKeyId: string }[]>`
    SELECT name, master_key_id AS "masterKeyId" FROM workers
    WHERE ${sql.unsafe(isRunning('workers'))} AND master_key_id <> ${current} ORDER BY name`
}

/** Whether any stored value is encrypted by one of these keys. Reads all values, so use it only to diagnose an error. */
export async function isEncryptedBy(db: Database, keyIds: string[]): Promise<boolean> {
  const sql = db.$client
  const isOneOf = (column: string) =>
    sql`encode(substring(${sql(column)} FROM 2 FOR 4), 'hex') = ANY(${keyIds})`
  const [row] = await sql<{ is: boolean }[]>`
    SELECT EXISTS (SELECT FROM device_auth WHERE ${isOneOf('value')})
      OR EXISTS (SELECT FROM messages WHERE ${isOneOf('uploaded_content')})
      OR EXISTS (SELECT FROM device_proxies WHERE ${isOneOf('sealed')})
      OR EXISTS (SELECT FROM webhook_secrets WHERE ${isOneOf('sealed')}) AS is`
  return row?.is ?? false
}
