import postgres from 'postgres'
import type { DatabaseRole } from './rights.ts'
import { readTlsSettings } from './tls.ts'

/**
 * Creates the roles of the installation, or resets their passwords and rights, and makes the role `migrate` the owner of all
 * tables. Only this needs a superuser. It may be repeated at any time. Run the migration afterwards, which grants the
 * rights on tables. Returns the names of the roles.
 */
export async function createRoles(
  superuserUrl: string,
  passwords: Record<DatabaseRole, string>,
): Promise<Record<DatabaseRole, string>> {
  const { url, ssl } = readTlsSettings(superuserUrl)
  const client = postgres(url, { ssl, max: 1, onnotice: () => undefined })
  try {
    return await client.begin(async (sql) => {
      const [row] = await sql<{ database: string }[]>`SELECT current_database() AS database`
      const database = row?.database ?? ''
      const names = { migrate: `${database}_migrate`, api: `${database}_api`, worker: `${database}_worker` }
      for (const role of ['migrate', 'api', 'worker'] as const)
        await createRole(sql, names[role], passwords[role])
      await limitDatabase(sql, database, names)
      await setOwner(sql, names.migrate)
      return names
    })
  } finally {
    await client.end()
  }
}

async function createRole(sql: postgres.ISql, name: string, password: string): Promise<void> {
  const [row] = await sql<{ exists: boolean; create: string; alter: string }[]>`
    SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = ${name}) AS exists,
      format('CREATE ROLE %I', ${name}::text) AS create,
      format('ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD %L',
        ${name}::text, ${password}::text) AS alter`
  if (!row) throw new Error('Postgres returned no row')
  if (!row.exists) await sql.unsafe(row.create)
  await sql.unsafe(row.alter)
  // No table or function of another schema, and no temporary one, can replace one of the gateway's.
  await sql.unsafe(`ALTER ROLE ${quote(name)} SET search_path = public, pg_temp`)
}

async function limitDatabase(
  sql: postgres.ISql,
  database: string,
  { migrate, api, worker }: Record<DatabaseRole, string>,
): Promise<void> {
  const all = [migrate, api, worker].map(quote).join(', ')
  await sql.unsafe(`
    REVOKE ALL ON DATABASE ${quote(database)} FROM PUBLIC;
    REVOKE ALL ON SCHEMA public FROM PUBLIC;
    GRANT CONNECT ON DATABASE ${quote(database)} TO ${all};
    GRANT CREATE ON DATABASE ${quote(database)} TO ${quote(migrate)};
    GRANT USAGE ON SCHEMA public TO ${all};
    GRANT CREATE ON SCHEMA public TO ${quote(migrate)}`)
}

/** Earlier migrations may have run as another role. A sequence that belongs to a column changes with its table. */
async function setOwner(sql: postgres.ISql, owner: string): Promise<void> {
  const statements = await sql<{ statement: string }[]>`
    SELECT format('ALTER SCHEMA %I OWNER TO %I', nspname, ${owner}::text) AS statement
    FROM pg_namespace WHERE nspname = 'drizzle' AND nspowner <> ${owner}::regrole
    UNION ALL
    SELECT format('ALTER %s %s OWNER TO %I', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
      class.oid::regclass, ${owner}::text)
    FROM pg_class AS class
    WHERE relnamespace::regnamespace::text IN ('public', 'drizzle') AND relkind IN ('r', 'p', 'S')
      AND relowner <> ${owner}::regrole
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = class.oid AND relkind = 'S' AND deptype IN ('a', 'i'))
    UNION ALL
    SELECT format('ALTER FUNCTION %s OWNER TO %I', oid::regprocedure, ${owner}::text)
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proowner <> ${owner}::regrole`
  for (const { statement } of statements) await sql.unsafe(statement)
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
