import { closeDatabase, openDatabase } from '@wagate/db/client'

/** Sees, inside the database, who writes what belongs to a sender. */
export type OwnerWatch = {
  /** What was written since the last call by a worker that did not own the sender, as `table by worker`. */
  takeForeignWrites(): Promise<string[]>
  close(): Promise<void>
}

/** The column that names the device, by table. */
const watched = { messages: 'device_id', device_auth: 'device_id', devices: 'id' }

export async function openOwnerWatch(databaseUrl: string): Promise<OwnerWatch> {
  const db = openDatabase(databaseUrl, {
    poolSize: 1,
    applicationName: 'wagate-faults',
    statementTimeoutMs: 30_000,
  })
  const sql = db.$client
  // A worker's connections and its row have the same name.
  await sql.unsafe(`
    CREATE TABLE foreign_writes (what text NOT NULL);
    CREATE FUNCTION note_foreign_write() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      writer text := current_setting('application_name');
      written jsonb := to_jsonb(CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END);
    BEGIN
      IF writer LIKE 'wagate-worker %' AND NOT EXISTS (
        SELECT FROM devices JOIN shard_leases USING (shard) JOIN workers ON workers.id = owner
        WHERE devices.id = (written ->> TG_ARGV[1])::int AND session_name = writer
      ) THEN
        INSERT INTO foreign_writes VALUES (format('%s by %s', TG_ARGV[0], writer));
      END IF;
      RETURN NULL;
    END $$;`)
  for (const [table, column] of Object.entries(watched))
    await sql.unsafe(`
      CREATE TRIGGER note_foreign_write AFTER INSERT OR UPDATE OR DELETE ON ${table}
      FOR EACH ROW EXECUTE FUNCTION note_foreign_write('${table}', '${column}')`)

  return {
    async takeForeignWrites() {
      const rows = await sql<{ what: string }[]>`DELETE FROM foreign_writes RETURNING what`
      return rows.map(({ what }) => what)
    },
    close: () => closeDatabase(db),
  }
}
