import { createHash } from 'node:crypto'
import type postgres from 'postgres'

/** The key of a write, made of what identifies it: the same whenever the write is repeated. */
export function writeKeyOf(kind: string, ...identity: (string | number)[]): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, ...identity]))
    .digest('hex')
    .slice(0, 32)
}

/**
 * SQL: those of `keys` (a query) whose write has not taken effect. What else the statement does, it does only for these.
 * A statement whose answer was lost may still be committing when it is repeated, and what it did cannot be seen until then:
 * the index of the keys makes the repetition wait for it. Keys are kept for a day.
 */
export function newWriteKeys(sql: postgres.Sql, keys: postgres.Fragment) {
  return sql`INSERT INTO write_keys (key) ${keys} ON CONFLICT (key) DO NOTHING RETURNING key`
}
