import type { MessageStatus, MessageType, Role } from '@wagate/shared/statuses'
import type { WhatsAppNetwork } from '@wagate/shared/whatsapp-network'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  customType,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
const moment = (name: string) => timestamp(name, { withTimezone: true })

/** Pacing; null takes the next default: the account's of its devices, then that of the environment. 0 is unlimited. */
const pacing = {
  ratePerMinute: integer('rate_per_minute'),
  burst: integer(),
  dailyCap: integer('daily_cap'),
}

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

export const accounts = pgTable(
  'accounts',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    /** Trimmed and lower-case. */
    email: text().notNull(),
    passwordHash: text('password_hash').notNull(),
    role: text().$type<Role>().notNull(),
    devicesAllowed: integer('devices_allowed').notNull(),
    expiresAt: moment('expires_at'),
    ...pacing,
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [unique('accounts_email').on(table.email)],
)

export const apiKeys = pgTable(
  'api_keys',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    accountId: integer('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    hash: bytea().notNull(),
    lastFour: text('last_four').notNull(),
    expiresAt: moment('expires_at'),
    revokedAt: moment('revoked_at'),
    lastUsedAt: moment('last_used_at'),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** The key that made it; null for the first of an account. */
    createdBy: integer('created_by'),
  },
  (table) => [unique('api_keys_hash').on(table.hash), index('api_keys_account').on(table.accountId)],
)

/** Who changed what. A trigger in the migrations refuses changes, and deletion before `installation.retention_days`. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    /** Who did it; null is the command line. No references: an entry outlives what it tells of. */
    accountId: integer('account_id'),
    keyId: integer('key_id'),
    operation: text().notNull(),
    /** `account:7`, `key:7` or `device:7`. */
    target: text().notNull(),
    /** What became of the target, in a word. */
    result: text().notNull(),
    ip: text(),
    /** As the answer names it: what the caller sent, if anything. */
    requestId: text('request_id'),
    /** Made by the gateway, so that no caller can choose it. */
    exchangeId: text('exchange_id'),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('audit_log_account').on(table.accountId, table.id),
    index('audit_log_created_at').on(table.createdAt),
  ],
)

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

/** Partitioned by week of created_at: the migration declares it, drizzle only knows the columns. */
export const messages = pgTable(
  'messages',
  {
    id: uuid().notNull(),
    seq: bigint({ mode: 'number' }).notNull().default(sql`nextval('messages_seq')`),
    accountId: integer('account_id').notNull(),
    deviceId: integer('device_id').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    direction: text().$type<'out' | 'in'>().notNull(),
    type: text().$type<MessageType>().notNull(),
    sender: text().notNull(),
    /** The other party. */
    number: text().notNull(),
    body: text(),
    url: text(),
    filename: text(),
    status: text().$type<MessageStatus>().notNull(),
    /** What the index of waiting messages goes by: a change of `status` alone then touches no index. */
    isWaiting: boolean('is_waiting').notNull().generatedAlwaysAs(sql`status IN ('queued', 'sending')`),
    errorCode: text('error_code'),
    error: text(),
    /** Of what we send it comes of the id and back (packages/shared/src/ids.ts): only what is received is searched by it. */
    waId: text('wa_id').notNull(),
    /** The recipient as WhatsApp resolved it: order and blocking go by it. */
    recipientJid: text('recipient_jid'),
    linkGeneration: integer('link_generation').notNull(),
    sendAt: moment('send_at'),
    sentAt: moment('sent_at'),
    deliveredAt: moment('delivered_at'),
    readAt: moment('read_at'),
    /** WhatsApp's media content after the upload (keys, path), encrypted: a resend does not upload again. */
    uploadedContent: bytea('uploaded_content'),
    /** Epoch of the owner that is preparing or sending it, or waits for the answer. */
    heldEpoch: bigint('held_epoch', { mode: 'number' }),
    /** How many owners in a row died or lost their lease while they held it. */
    interruptions: smallint().notNull().default(0),
    /** What kept it from being sent the last time. */
    setback: text(),
  },
  (table) => [
    primaryKey({ name: 'messages_pk', columns: [table.id, table.createdAt] }),
    index('messages_history').on(
      table.accountId,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index('messages_number').on(
      table.accountId,
      table.number,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index('messages_sender').on(
      table.accountId,
      table.sender,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    // By the code and not by the status: an index that knew the status would have to be written at every change of it.
    index('messages_failed')
      .on(table.accountId, table.createdAt.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`${table.errorCode} IS NOT NULL`),
    index('messages_received').on(table.deviceId, table.waId).where(sql`${table.direction} = 'in'`),
    // What waits is in one of these two: those that were scheduled are found by their time, however many there are.
    index('messages_ready')
      .on(table.deviceId, table.seq)
      .where(sql`${table.isWaiting} AND ${table.sendAt} IS NULL`),
    index('messages_scheduled')
      .on(table.deviceId, table.sendAt, table.seq)
      .where(sql`${table.isWaiting} AND ${table.sendAt} IS NOT NULL`),
    // For the versions before these two, which run beside this one during a rolling deployment. To be dropped next.
    index('messages_waiting').on(table.deviceId, table.seq).where(sql`${table.isWaiting}`),
    index('messages_sent').on(table.deviceId, table.sentAt).where(sql`${table.sentAt} IS NOT NULL`),
  ],
)

/** Media that came with the request (data: URLs) and waits for its upload. */
export const mediaBlobs = pgTable(
  'media_blobs',
  {
    messageId: uuid('message_id').primaryKey(),
    accountId: integer('account_id').notNull(),
    mime: text().notNull(),
    bytes: bytea().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    index('media_blobs_created_at').on(table.createdAt),
    index('media_blobs_account').on(table.accountId, table.createdAt),
  ],
)

/**
 * Media on their way into media_blobs: a statement of megabytes would hold up its process and its connection.
 * Unlogged, which the migration says: a crash of Postgres empties it, and a caller was not answered yet.
 */
export const mediaParts = pgTable(
  'media_parts',
  {
    uploadId: uuid('upload_id').notNull(),
    position: integer().notNull(),
    accountId: integer('account_id').notNull(),
    bytes: bytea().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.uploadId, table.position] }),
    index('media_parts_created_at').on(table.createdAt),
  ],
)

/** Bytes in media_blobs for each account. A trigger in the migration keeps it. */
export const mediaUsage = pgTable('media_usage', {
  accountId: integer('account_id').primaryKey(),
  bytes: bigint({ mode: 'number' }).notNull(),
})

export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    accountId: integer('account_id').notNull(),
    operation: text().notNull(),
    key: text().notNull(),
    payloadHash: bytea('payload_hash').notNull(),
    messageId: uuid('message_id'),
    response: jsonb(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: 'idempotency_keys_pk', columns: [table.accountId, table.operation, table.key] }),
    index('idempotency_keys_created_at').on(table.createdAt),
  ],
)

/** The master keys by which stored values may be encrypted: their ids, never the keys. */
export const masterKeys = pgTable('master_keys', {
  id: text().primaryKey(),
  usedSince: moment('used_since').notNull().defaultNow(),
})

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
