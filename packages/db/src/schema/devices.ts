import type { PauseMode } from '@wagate/shared/sender-pause'
import type { PasskeyStep, RestrictionReason } from '@wagate/shared/statuses'
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
    /** `id` modulo `installation.shards`, stored so that owners can find their devices through an index. */
    shard: integer().notNull(),
    accountId: integer('account_id')
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    sender: text().notNull(),
    name: text().notNull(),
    cmsId: text('cms_id'),
    cmsVer: text('cms_ver'),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** Hidden from the account, which may create the sender again. The owner unlinks the device and removes it. */
    deletedAt: moment('deleted_at'),
    /** Nothing is left to do. The row is kept for a while: a sender that is created again goes on with its new contacts. */
    removedAt: moment('removed_at'),

    /** Written by the API. Writes of the owner compare `desired_rev` and change nothing after it has increased. */
    desired: text().$type<'unlinked' | 'linked'>().notNull().default('unlinked'),
    desiredRev: integer('desired_rev').notNull().default(0),
    /** Until then the owner keeps a pairing socket open, if the device has no credentials. */
    pairingUntil: moment('pairing_until'),
    /** Increases when a new login with the same credentials is requested. */
    sessionRev: integer('session_rev').notNull().default(0),
    /** Increases with every link. A message stores the generation under which it was accepted. */
    linkGeneration: integer('link_generation').notNull().default(0),
    /**
     * Links up to this generation are revoked: before anything else, the owner logs them out at WhatsApp and wipes their
     * credentials. The API writes it (logout, generate-qr with force), so that a logout takes effect even if a new
     * pairing follows at once and processes crash in between.
     */
    revokedGeneration: integer('revoked_generation').notNull().default(0),

    /** From here on, the actual state. Only the owner writes it. */
    hasCredentials: boolean('has_credentials').notNull().default(false),
    connection: text().$type<'offline' | 'connecting' | 'scanning' | 'online'>().notNull().default('offline'),
    /** `sessionRev` when the login that is, or was last, `online` began. */
    connectedSessionRev: integer('connected_session_rev').notNull().default(0),
    /** WhatsApp asks for a passkey before it completes the pairing. */
    pairingStep: text('pairing_step').$type<PasskeyStep>(),
    /** What the last event of its status said: a connection, a step of a pairing, or the reason why it is disconnected. */
    announced: text(),
    /** Since when a device with credentials has not been `online`. The grace period of the status begins here. */
    offlineSince: moment('offline_since'),
    statusReason: text('status_reason'),
    /** What WhatsApp said besides: why a number is banned, or the error of a refused login. */
    statusDetail: text('status_detail'),
    /**
     * WhatsApp refused a login. Its owner does not log the device in again while all of these that are set hold: the time
     * is not over, the desired state has this revision, the client has this version.
     */
    loginAfter: moment('login_after'),
    loginBlockedRev: integer('login_blocked_rev'),
    loginBlockedVersion: text('login_blocked_version'),
    waJid: text('wa_jid'),
    waLid: text('wa_lid'),
    /** WhatsApp lets it write to no new contacts until then. */
    restrictedUntil: moment('restricted_until'),
    restrictionReason: text('restriction_reason').$type<RestrictionReason>(),
    /** New contacts in the current cycle, as WhatsApp counts them. Null when WhatsApp has not said. */
    newChatsUsed: integer('new_chats_used'),
    newChatsTotal: integer('new_chats_total'),
    newChatsCapped: boolean('new_chats_capped').notNull().default(false),
    /** The end of that cycle. */
    newChatsUntil: moment('new_chats_until'),
    /** It has had messages with another priority than `normal`: its owner looks for them. */
    usesPriorities: boolean('uses_priorities').notNull().default(false),
    /** Its account lets it send nothing until then. Null without a pause; a pause without a time ends by a request. */
    pauseMode: text('pause_mode').$type<PauseMode>(),
    pauseUntil: moment('pause_until'),
    lastSeenAt: moment('last_seen_at'),
    /**
     * When the warm-up of its budget of new contacts began. Null before its first link, and for a link that is older than
     * this column: then it counts from `created_at`.
     */
    warmUpFrom: moment('warm_up_from'),
    /** When its credentials were wiped the last time. */
    unlinkedAt: moment('unlinked_at'),

    ...pacing,
  },
  (table) => [
    uniqueIndex('devices_account_sender')
      .on(table.accountId, table.sender)
      .where(sql`${table.deletedAt} IS NULL`),
    index('devices_former').on(table.accountId, table.sender).where(sql`${table.deletedAt} IS NOT NULL`),
    index('devices_shard').on(table.shard),
    check('devices_desired', sql`${table.desired} IN ('unlinked', 'linked')`),
    check(
      'devices_pairing_step',
      sql`${table.pairingStep} IN ('passkey_required', 'passkey_confirmation_required')`,
    ),
    check('devices_connection', sql`${table.connection} IN ('offline', 'connecting', 'scanning', 'online')`),
  ],
)

/**
 * The contacts that count towards a device's budget of new contacts, each once. The statement that claims the first
 * message to one inserts it.
 */
export const newContacts = pgTable(
  'new_contacts',
  {
    deviceId: integer('device_id')
      .notNull()
      .references(() => devices.id, { onDelete: 'cascade' }),
    number: text().notNull(),
    /** When it counted. */
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ name: 'new_contacts_pk', columns: [table.deviceId, table.number] }),
    index('new_contacts_created_at').on(table.createdAt),
  ],
)

/** The proxy through which a device reaches WhatsApp. Only workers can read `sealed`, the whole URL. */
export const deviceProxies = pgTable('device_proxies', {
  deviceId: integer('device_id')
    .primaryKey()
    .references(() => devices.id, { onDelete: 'cascade' }),
  /** Without user name and password. */
  shown: text().notNull(),
  sealed: bytea().notNull(),
})

/** WhatsApp credentials and Signal keys, each value encrypted (see apps/worker/src/session/credentials/vault.ts). */
export const deviceAuth = pgTable(
  'device_auth',
  {
    deviceId: integer('device_id')
      .notNull()
      .references(() => devices.id, { onDelete: 'cascade' }),
    type: text().notNull(),
    id: text().notNull(),
    value: bytea().notNull(),
    /** The day of the last write. Every message writes the Signal session. */
    usedOn: date('used_on').notNull().default(sql`CURRENT_DATE`),
  },
  (table) => [primaryKey({ name: 'device_auth_pk', columns: [table.deviceId, table.type, table.id] })],
)
