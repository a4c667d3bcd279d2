import type { Database } from '../../client.ts'
import { isRunning } from '../statements/worker-state.ts'
import type { AuthKey, SealedPage } from './sealed-values.ts'

/** How workers write Signal sessions: 1 is JSON, 2 is binary and in two parts. Workers of this version read both. */
export type SignalFormat = 1 | 2

export async function readSignalFormat(db: Database): Promise<SignalFormat> {
  const [row] = await db.$client<{ format: number }[]>`SELECT signal_format AS format FROM installation`
  return row?.format === 2 ? 2 : 1
}

/** For workers that start from now on. Changes nothing while workers run that cannot read it, and returns their names. */
export async function setSignalFormat(db: Database, format: SignalFormat): Promise<string[]> {
  const sql = db.$client
  const [row] = await sql<{ older: string[] }[]>`
    WITH older AS MATERIALIZED (
      SELECT name FROM workers
      WHERE ${format}::smallint = 2 AND signal_format IS NULL AND ${sql.unsafe(isRunning('workers'))}
    ),
    changed AS (
      UPDATE installation SET signal_format = ${format}::smallint WHERE NOT EXISTS (SELECT FROM older)
    )
    SELECT coalesce(array_agg(name ORDER BY name), '{}') AS older FROM older`
  return row?.older ?? []
}

/** Running workers that write another format, because they were started before it was set. */
export async function listWorkersOfOtherFormat(db: Database, format: SignalFormat): Promise<string[]> {
  const sql = db.$client
  const found = await sql<{ name: string }[]>`
    SELECT name FROM workers
    WHERE coalesce(signal_format, 1) <> ${format} AND ${sql.unsafe(isRunning('workers'))} ORDER BY name`
  return found.map(({ name }) => name)
}

const pageRows = 1000

/** Sessions of format 2. Limits scanned rows instead of found ones, as a rotation of master keys does. */
export async function listSessionsInParts(
  db: Database,
  after: AuthKey = { deviceId: 0, type: '', id: '' },
): Promise<SealedPage<AuthKey>> {
  const sql = db.$client
  const scanned = await sql<(AuthKey & { value: Buffer | null })[]>`
    SELECT device_id AS "deviceId", type, id,
      CASE WHEN type = 'session' AND get_byte(value, 0) = 2 THEN value END AS value
    FROM device_auth WHERE (device_id, type, id) > (${after.deviceId}::int, ${after.type}, ${after.id})
    ORDER BY device_id, type, id LIMIT ${pageRows}`
  return {
    values: scanned.flatMap(({ value, ...key }) => (value ? [{ key, value }] : [])),
    scanned: scanned.length,
    last: scanned.length < pageRows ? undefined : scanned.at(-1),
  }
}
