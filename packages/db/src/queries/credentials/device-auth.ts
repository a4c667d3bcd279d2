import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import {
  type Fence,
  fencesOf,
  leaseColumns,
  leaseKey,
  lostWrites,
  type OwnershipLost,
} from '../statements/fence.ts'
import { rows } from '../statements/rows.ts'

/** The type of the values whose ids are the numbers of contacts that have given the device a privacy token. */
export const tokenHolderType = 'token-holder'
/** The type of the values whose ids are the numbers of people who wrote to the account before the device was linked. */
export const historyChatType = 'history-chat'
/** The type of the secrets of polls, with their options. */
export const pollSecretType = 'poll-secret'
/** The type of the secrets of texts and captions that their author may still edit. */
export const textSecretType = 'text-secret'

/** The type of the value that lists messages which could not be decrypted and were asked for again. */
export const undecryptableType = 'undecryptable'

export type AuthRead = { deviceId: number; type: string; ids: string[] }
export type AuthValue = { id: string; value: Buffer }

/** The values for each read, in one statement. Values that do not exist are left out. */
export async function listAuthValues(db: Database, reads: AuthRead[]): Promise<AuthValue[][]> {
  const sql = db.$client
  const asked = reads.flatMap(({ ids, ...of }, read) => ids.map((id) => ({ ...of, id, read })))
  const stored = await sql<(AuthValue & { read: number })[]>`
    SELECT asked.read, asked.id, stored.value
    FROM ${rows(sql, 'asked', asked, {
      read: ['int', ({ read }) => read],
      device_id: ['int', ({ deviceId }) => deviceId],
      type: ['text', ({ type }) => type],
      id: ['text', ({ id }) => id],
    })}
    JOIN device_auth AS stored USING (device_id, type, id)`
  const found: AuthValue[][] = reads.map(() => [])
  for (const { read, id, value } of stored) found[read]?.push({ id, value })
  return found
}

/** `value` null deletes. The rows of one write are stored together or not at all. */
export type AuthWrite = {
  fence: Fence
  deviceId: number
  rows: { type: string; id: string; value: Buffer | null }[]
}

/**
 * Stores the writes of several devices in one fenced statement. Returns an error for each write whose owner had lost its
 * shard; it was not stored.
 */
export async function storeAuthWrites(
  db: Database,
  writes: AuthWrite[],
): Promise<(OwnershipLost | undefined)[]> {
  const sql = db.$client
  const valid = await sql<{ lease: string }[]>`
    WITH valid AS (${fencesOf(
      sql,
      writes.map(({ fence }) => fence),
    )}),
    ${authWriteSteps(sql, writes)}
    SELECT shard || ' ' || epoch AS lease FROM valid`
  return lostWrites(
    writes,
    valid.map(({ lease }) => lease),
  )
}

/** SQL: common table expressions that store the writes whose leases are in `valid`. */
export function authWriteSteps(sql: postgres.Sql, writes: AuthWrite[]) {
  return sql`
    given AS (
      SELECT row.* FROM valid JOIN ${rows(sql, 'row', distinctRows(writes), {
        ...leaseColumns,
        device_id: ['int', ({ deviceId }) => deviceId],
        type: ['text', ({ type }) => type],
        id: ['text', ({ id }) => id],
        value: ['text', ({ value }) => value],
      })} USING (shard, epoch)
      -- Statements that lock in different orders could deadlock.
      ORDER BY device_id, type, id
    ),
    -- Apart from the insert: ON CONFLICT logs a lock of each row before its update.
    updated AS (
      UPDATE device_auth AS auth SET value = decode(given.value, 'base64'), used_on = CURRENT_DATE FROM given
      WHERE given.value IS NOT NULL
        AND auth.device_id = given.device_id AND auth.type = given.type AND auth.id = given.id
      RETURNING auth.device_id, auth.type, auth.id
    ),
    inserted AS (
      INSERT INTO device_auth (device_id, type, id, value)
      SELECT device_id, type, id, decode(value, 'base64') FROM given
      WHERE value IS NOT NULL AND (device_id, type, id) NOT IN (SELECT device_id, type, id FROM updated)
      ON CONFLICT ON CONSTRAINT device_auth_pk DO UPDATE SET value = excluded.value, used_on = excluded.used_on
    ),
    deleted AS (
      DELETE FROM device_auth USING given
      WHERE given.value IS NULL AND device_auth.device_id = given.device_id
        AND device_auth.type = given.type AND device_auth.id = given.id
    )`
}

type GivenRow = { fence: Fence; deviceId: number; type: string; id: string; value: string | null }

/** A batch may write a row twice, but a statement may write it only once. The later write wins. */
function distinctRows(writes: AuthWrite[]): GivenRow[] {
  const distinct = new Map<string, GivenRow>()
  for (const { fence, deviceId, rows: own } of writes) {
    for (const { type, id, value } of own) {
      distinct.set(`${leaseKey(fence)} ${deviceId} ${type} ${id}`, {
        fence,
        deviceId,
        type,
        id,
        value: value?.toString('base64') ?? null,
      })
    }
  }
  return [...distinct.values()]
}
