import { sql } from 'drizzle-orm'
import {
  bigint,
  check,
  index,
  integer,
  pgTable,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { moment } from './columns.ts'

export const workers = pgTable(
  'workers',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    state: text().$type<'live' | 'draining' | 'dead'>().notNull(),
    capacity: integer().notNull(),
    /** The id of the master key by which it encrypts. */
    masterKeyId: text('master_key_id'),
    /** The format in which it writes Signal sessions. Null for a version that has only format 1. */
    signalFormat: smallint('signal_format'),
    leaseUntil: moment('lease_until').notNull(),
    renewedAt: moment('renewed_at').notNull().defaultNow(),
    /** The connection that last renewed the lease. It ends with its process, long before the lease ends. */
    sessionPid: integer('session_pid').notNull(),
    sessionSince: moment('session_since').notNull(),
    /** The application name of all connections of that process. */
    sessionName: text('session_name').notNull(),
    /** Since when the lease has been renewed without a gap. Only after a full TTL may a worker mark others dead. */
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
    /** Increases with every claim. A write with an older epoch is refused. */
    epoch: bigint({ mode: 'number' }).notNull().default(0),
    /** The epoch of the last owner that died or lost its lease instead of releasing the shard. */
    diedEpoch: bigint('died_epoch', { mode: 'number' }),
    /** Those of the last 32 such owners, newest first. Workers of the version before store only `died_epoch`. */
    diedEpochs: bigint('died_epochs', { mode: 'number' }).array(),
  },
  (table) => [index('shard_leases_owner').on(table.owner)],
)
