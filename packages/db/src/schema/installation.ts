import type { WhatsAppNetwork } from '@wagate/shared/whatsapp-network'
import { sql } from 'drizzle-orm'
import { check, integer, pgTable, smallint, text } from 'drizzle-orm/pg-core'
import { bytea, moment } from './columns.ts'

/** One row: what is set when the gateway is installed. Every process checks it when it starts. */
export const installation = pgTable(
  'installation',
  {
    id: integer().primaryKey().default(1),
    shards: integer().notNull(),
    /** Younger entries of the audit log cannot be deleted. */
    retentionDays: integer('retention_days').notNull().default(365),
    /** The WhatsApp network of the links. Null until the first process that may set it. */
    network: text().$type<WhatsAppNetwork>(),
    /** Only versions before `event_epochs` use it. See `restoreEventEpochs`. */
    eventServer: text('event_server'),
    /** The newest of `event_epochs`. */
    eventEpoch: integer('event_epoch').notNull().default(0),
    /** How workers write Signal sessions. 1 in an installation from before this column, until its operator changes it. */
    signalFormat: smallint('signal_format').notNull().default(2),
    /** From when on a worker reads the version of WhatsApp Web again. */
    clientVersionDueAt: moment('client_version_due_at').notNull().defaultNow(),
    /** Signs the links to received media. Every process that makes or accepts links reads it. */
    mediaLinkKey: bytea('media_link_key').default(
      sql`decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')`,
    ),
  },
  (table) => [
    check('installation_one_row', sql`${table.id} = 1`),
    check('installation_network', sql`${table.network} IN ('live', 'simulator')`),
  ],
)

/** Versions of WhatsApp Web that this installation has logged in with, or could. */
export const clientVersions = pgTable('client_versions', {
  /** Such as 2.3000.1043857760. */
  version: text().primaryKey(),
  firstUsedAt: moment('first_used_at').notNull().defaultNow(),
  /** When WhatsApp named it as its present one, the last time. Null for one that only the operator has named. */
  readAt: moment('read_at'),
})

/** Ids of the master keys by which stored values may be encrypted. The keys are never stored. */
export const masterKeys = pgTable('master_keys', {
  id: text().primaryKey(),
  usedSince: moment('used_since').notNull().defaultNow(),
  /** The public half of a key that only holders of this master key can derive. The API encrypts proxies for it. */
  proxyPublicKey: bytea('proxy_public_key'),
})
