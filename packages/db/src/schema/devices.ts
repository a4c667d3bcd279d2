import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  date,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { bytea, moment, pacing } from './columns.ts'

export const devices = pgTable(
  'devices',
  {
    id: integer().primaryKey(),
    /** id mod installation.shards, stored so that owners find their devices by index. */
    shard: integer().notNull(),
    accountId: integer('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    sender: text().notNull(),
    name: text().notNull(),
    cmsId: text('cms_id'),
    cmsVer: text('cms_ver'),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** Gone for its account, which may have the sender anew; its owner still unlinks it and then removes the row. */
    deletedAt: moment('deleted_at'),

    /** What the API wants. The owner's writes carry `desired_rev` and miss when it has moved on. */
    desired: text().$type<'unlinked' | 'linked'>().notNull().default('unlinked'),
    desiredRev: integer('desired_rev').notNull().default(0),
    /** While it lies ahead and there are no credentials, the owner keeps a pairing socket open. */
    pairingUntil: moment('pairing_until'),
    /** Rises with every link; a message carries the generation under which it was accepted. */
    linkGeneration: integer('link_generation').notNull().default(0),
    /**
     * Links up to this generation are revoked: their owner logs them out at WhatsApp and wipes their credentials
     * before anything else. Written by the API (logout, generate-qr with force), so that a logout which is followed
     * at once by a new pairing is still carried out, whoever crashes in between.
     */
    revokedGeneration: integer('revoked_generation').notNull().default(0),

    /** What is, written by the owner only. */
    hasCredentials: boolean('has_credentials').notNull().default(false),
    connection: text().$type<'offline' | 'connecting' | 'scanning' | 'online'>().notNull().default('offline'),
    /** Since when `connection` is not `online` although credentials exist: the grace of the status runs from here. */
    offlineSince: moment('offline_since'),
    statusReason: text('status_reason'),
    waJid: text('wa_jid'),
    waLid: text('wa_lid'),
    restrictedUntil: moment('restricted_until'),
    lastSeenAt: moment('last_seen_at'),

    ...pacing,
  },
  (table) => [
    uniqueIndex('devices_account_sender')
      .on(table.accountId, table.sender)
      .where(sql`${table.deletedAt} IS NULL`),
    index('devices_shard').on(table.shard),
    check('devices_desired', sql`${table.desired} IN ('unlinked', 'linked')`),
    check('devices_connection', sql`${table.connection} IN ('offline', 'connecting', 'scanning', 'online')`),
  ],
)

/** WhatsApp credentials and Signal keys, each value encrypted (see apps/worker/src/session/vault.ts). */
export const deviceAuth = pgTable(
  'device_auth',
  {
    deviceId: integer('device_id')
      .notNull()
      .references(() => devices.id, { onDelete: 'cascade' }),
    type: text().notNull(),
    id: text().notNull(),
    value: bytea().notNull(),
    /** When it was last written, which a Signal session is with every message. */
    usedOn: date('used_on').notNull().default(sql`CURRENT_DATE`),
  },
  (table) => [primaryKey({ name: 'device_auth_pk', columns: [table.deviceId, table.type, table.id] })],
)
