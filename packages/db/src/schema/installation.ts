import type { WhatsAppNetwork } from '@wagate/shared/whatsapp-network'
import { sql } from 'drizzle-orm'
import { check, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { moment } from './columns.ts'

/** One row: what is fixed when the gateway is installed and checked by every process at start. */
export const installation = pgTable(
  'installation',
  {
    id: integer().primaryKey().default(1),
    shards: integer().notNull(),
    /** Entries of the audit log that are younger cannot be deleted. */
    retentionDays: integer('retention_days').notNull().default(365),
    /** Which WhatsApp network the links belong to. Null until the first process that may decide it. */
    network: text().$type<WhatsAppNetwork>(),
  },
  (table) => [
    check('installation_one_row', sql`${table.id} = 1`),
    check('installation_network', sql`${table.network} IN ('live', 'simulator')`),
  ],
)

/** The master keys by which stored values may be encrypted: their ids, never the keys. */
export const masterKeys = pgTable('master_keys', {
  id: text().primaryKey(),
  usedSince: moment('used_since').notNull().defaultNow(),
})
