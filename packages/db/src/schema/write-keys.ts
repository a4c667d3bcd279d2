import { index, pgTable, uuid } from 'drizzle-orm/pg-core'
import { moment } from './columns.ts'

/** Writes that have taken effect, for as long as they may be repeated. */
export const writeKeys = pgTable(
  'write_keys',
  {
    key: uuid().primaryKey(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [index('write_keys_age').on(table.createdAt)],
)
