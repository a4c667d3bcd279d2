import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { moment } from './columns.ts'

export const workers = pgTable(
  'workers',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    state: text().$type<'live' | 'draining' | 'dead'>().notNull(),
    capacity: integer().notNull(),
    /** The id of the key by which it encrypts. */
    masterKeyId: text('master_key_id'),
    leaseUntil: moment('lease_until').notNull(),
    renewedAt: moment('renewed_at').notNull().defaultNow(),
    /** The connection that renewed the lease last: it ends with its process, long before the lease does. */
    sessionPid: integer('session_pid').notNull(),
    sessionSince: moment('session_since').notNull(),
    /** What all connections of that process call themselves. */
    sessionName: text('session_name').notNull(),
    /** Since when the lease was renewed without a gap: only a worker that was alive for a full TTL reaps others. */
    renewedSince: moment('renewed_since').notNull().defaultNow(),
    startedAt: moment('started_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('workers_live_name').on(table.name).where(sql`${table.state} <> 'dead'`),
    check('workers_state', sql`${table.state} IN ('live', 'draining', 'dead')`),
  ],
)

export const shardLeases = pgTable(
  'shard_leases',
  {
    shard: integer().primaryKey(),
    owner: uuid(),
    /** Rises with every claim; a write that carries an older one is refused. */
    epoch: bigint({ mode: 'number' }).notNull().default(0),
    /** The epoch of the last owner that did not release it: it died, or its lease ended. */
    diedEpoch: bigint('died_epoch', { mode: 'number' }),
  },
  (table) => [index('shard_leases_owner').on(table.owner)],
)
