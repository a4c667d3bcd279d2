import type { Database } from '../../client.ts'

/** `ageMs`: since WhatsApp named it as its present version, the last time. */
export type ReadVersion = { version: string; ageMs: number }

const retryMs = 15 * 60_000
const keptDays = 365

/**
 * The newest version that WhatsApp has named, and whether the caller is the one to read it again now. If nothing is
 * recorded within 15 minutes, another worker is.
 */
export async function claimVersionRead(
  db: Database,
): Promise<{ newest: ReadVersion | undefined; isClaimed: boolean }> {
  const sql = db.$client
  const [row] = await sql<{ newest: ReadVersion | null; isClaimed: boolean }[]>`
    WITH claimed AS (
      UPDATE installation SET client_version_due_at = now() + ${retryMs}::float8 * interval '1 ms'
      WHERE client_version_due_at <= now() RETURNING 1
    )
    SELECT EXISTS (SELECT FROM claimed) AS "isClaimed", (
      SELECT json_build_object('version', version, 'ageMs', extract(epoch FROM now() - read_at)::float8 * 1000)
      FROM client_versions WHERE read_at IS NOT NULL
      ORDER BY string_to_array(version, '.')::bigint[] DESC LIMIT 1
    ) AS newest`
  return { newest: row?.newest ?? undefined, isClaimed: row?.isClaimed === true }
}

/** WhatsApp has named this version, and is not asked again before `pauseMs` have passed. */
export async function recordReadVersion(db: Database, version: string, pauseMs: number): Promise<void> {
  await db.$client.begin(async (sql) => {
    await sql`
      INSERT INTO client_versions (version, read_at) VALUES (${version}, now())
      ON CONFLICT (version) DO UPDATE SET read_at = excluded.read_at`
    await sql`UPDATE installation SET client_version_due_at = now() + ${pauseMs}::float8 * interval '1 ms'`
    await sql`
      DELETE FROM client_versions
      WHERE version <> ${version} AND coalesce(read_at, first_used_at) < now() - ${keptDays} * interval '1 day'`
  })
}

/** Makes the next worker that asks read the version, unless it was read within 15 minutes. */
export async function hastenVersionRead(db: Database): Promise<void> {
  await db.$client`
    UPDATE installation SET client_version_due_at = now()
    WHERE client_version_due_at > now() + ${retryMs}::float8 * interval '1 ms' AND NOT EXISTS (
      SELECT FROM client_versions WHERE read_at > now() - ${retryMs}::float8 * interval '1 ms'
    )`
}

/** For how many ms the installation has known a version that its operator chose. */
export async function noteUsedVersion(db: Database, version: string): Promise<number> {
  const sql = db.$client
  await sql`INSERT INTO client_versions (version) VALUES (${version}) ON CONFLICT DO NOTHING`
  const [row] = await sql<{ ageMs: number }[]>`
    SELECT extract(epoch FROM now() - coalesce(read_at, first_used_at))::float8 * 1000 AS "ageMs"
    FROM client_versions WHERE version = ${version}`
  return row?.ageMs ?? 0
}
