import { readMasterKeys } from '@wagate/worker/config/master-keys'
import { makeVault, openAuthValue } from '@wagate/worker/session/credentials/vault'
import type postgres from 'postgres'
import type { Secret } from './secret-search.ts'

/** Decrypts the stored credentials and sessions of all devices. Returns the private keys in them. */
export async function readSignalSecrets(sql: postgres.Sql, masterKey: Buffer): Promise<Secret[]> {
  const rows = await sql<{ device_id: number; type: string; id: string; value: Buffer }[]>`
    SELECT device_id, type, id, value FROM device_auth
    WHERE type <> 'pre-key' OR id::int % 100 = 0`
  const keys = readMasterKeys(masterKey)
  return rows.flatMap(({ device_id, type, id, value }) => {
    const stored = openAuthValue(makeVault(keys, device_id), type, id, value).value
    return secretsIn(stored, `${type} ${id}`, type === 'account-salt')
  })
}

const secretNames = /^(private|privKey|rootKey|chainKey|advSecretKey|keyData|seed|key|messageKeys|token)$/

function secretsIn(value: unknown, name: string, isSecret = false): Secret[] {
  if (Buffer.isBuffer(value) || (typeof value === 'string' && /^[\w+/]{22,}={0,2}$/.test(value))) {
    const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value, 'base64')
    return isSecret && bytes.length >= 16 ? [{ name, bytes }] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    secretsIn(inner, `${name}.${key}`, isSecret || secretNames.test(key)),
  )
}
