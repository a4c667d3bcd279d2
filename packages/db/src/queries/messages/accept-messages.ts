import { lidOf, numberOf } from '@wagate/shared/contact-key'
import { normalPriority } from '@wagate/shared/priorities'
import type { PauseMode } from '@wagate/shared/sender-pause'
import { blockingReasons } from '@wagate/shared/statuses'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { type Contact, seenLids } from '../contacts/known-contacts.ts'
import { numberForms } from '../contacts/number-forms.ts'
import { isLinkedIn } from '../devices/linked-device.ts'
import { isPaused } from '../devices/sender-pause.ts'
import { insertMessageEvents } from '../statements/event-rows.ts'
import { idempotencyWindowStart } from '../statements/idempotency-window.ts'
import { type Columns, numberedRows } from '../statements/rows.ts'
import { contentColumns, givenContent, givenContentColumns, type NewContent } from './message-content.ts'

export type NewMessage = NewContent & {
  id: string
  waId: string
  accountId: number
  sender: string
  /** Null for a recipient that is addressed by its LID. */
  number: string | null
  /** With `@lid`. It is written to at this address, also when its number is known. */
  lidJid?: string | null
  /** ISO 8601. Null is now. */
  sendAt: string | null
  /** Its place in the list of priorities (priorities.ts). Normal if it is not given. */
  priority?: number
  /** For how long it may wait, from `sendAt` on. */
  expiresInSeconds?: number | null
  typingSeconds?: number | null
  /** What the caller calls it. */
  reference?: string | null
  /** Media that came with the request, or whose parts were stored by `storeMediaPart`. */
  media: NewMedia | null
  idempotency: Idempotency | null
}

export type NewMedia = { mime: string; bytes: number } & ({ content: Buffer } | { uploadId: string })

/** `key` is unique for an account and operation, for 24 hours. `payloadHash` is SHA-256 in base64. */
type Idempotency = { operation: string; key: string; payloadHash: string }

/** The reason of the device's status, and for how long it has had no connection. */
export type Away = { reason: string; forMs: number }

/** `until`: null without an end. */
export type Pause = { until: Date | null }

export type Acceptance =
  /**
   * `away` while the sender has no connection, `hold` while its account lets it send nothing. `contact`: what is known of the
   * recipient.
   */
  | { outcome: 'accepted'; deviceId: number; away: Away | null; hold: Pause | null; contact: Contact }
  | { outcome: 'sender_not_found' }
  | { outcome: 'sender_not_connected' }
  | { outcome: 'sender_blocked'; reason: string }
  /** Its account lets it accept nothing. */
  | ({ outcome: 'sender_paused' } & Pause)
  /** With its media, the account would exceed its limit of waiting media. */
  | { outcome: 'media_full' }
  /** Parts of its media are missing: Postgres has crashed since they were stored. */
  | { outcome: 'media_lost' }
  /** An earlier request had the same idempotency key. `findKeyUses` returns its message. */
  | { outcome: 'key_used' }

type AcceptLimits = {
  /** For each account: media that came with requests and waits for its upload. */
  mediaBytesMax: number
}

/**
 * Stores messages in their order in one statement, each with its idempotency key and media, and says for each whether it
 * was accepted. No two of them may have the same idempotency key, and only one may have media as `content`. Concurrent
 * statements do not see each other's media, so together they may exceed `mediaBytesMax` by what they store.
 */
export async function acceptMessages(
  db: Database,
  messages: NewMessage[],
  { mediaBytesMax }: AcceptLimits,
): Promise<Acceptance[]> {
  const sql = db.$client
  // For a plain text, the steps for keys and media would be a tenth of the work.
  const hasKeys = messages.some(({ idempotency }) => idempotency !== null)
  const hasMedia = messages.some(({ media }) => media !== null)
  const hasLids = messages.some(({ lidJid }) => lidJid)
  const hasPriorities = messages.some(({ priority = normalPriority }) => priority !== normalPriority)
  const canSend = sql`is_linked AND pause_mode IS DISTINCT FROM 'refuse' AND (away_reason IS NULL OR away_reason NOT IN (${blocking(sql)}))`
  const isAcceptable = hasMedia ? sql`${canSend} AND has_room AND is_complete` : canSend
  const isAccepted = hasKeys
    ? sql`${isAcceptable} AND (key IS NULL OR id IN (SELECT message_id FROM claimed))`
    : isAcceptable
  const parts = sql`media_parts AS part WHERE part.upload_id = given.upload_id AND part.account_id = given.account_id`
  const hasRoom = hasMedia
    ? sql`, media_bytes IS NULL OR media_bytes + coalesce(
        (SELECT bytes FROM media_usage AS used WHERE used.account_id = given.account_id), 0
      ) <= ${mediaBytesMax} AS has_room,
      upload_id IS NULL OR media_bytes = (SELECT sum(octet_length(part.bytes)) FROM ${parts}) AS is_complete`
    : sql``
  const claimed = hasKeys
    ? sql`
    claimed AS (
      INSERT INTO idempotency_keys AS stored (account_id, operation, key, payload_hash, message_id)
      SELECT account_id, operation, key, decode(payload_hash, 'base64'), id
      FROM given WHERE ${isAcceptable} AND key IS NOT NULL
      -- In one order everywhere: statements that lock keys in different orders could deadlock.
      ORDER BY account_id, operation, key
      ON CONFLICT ON CONSTRAINT idempotency_keys_pk DO UPDATE
        SET payload_hash = excluded.payload_hash, message_id = excluded.message_id, response = NULL,
          created_at = now()
        WHERE stored.created_at <= ${sql.unsafe(idempotencyWindowStart)}
      RETURNING message_id
    ),`
    : sql``
  const seen = hasLids
    ? sql`
    seen AS (${seenLids(sql, sql`SELECT account_id, contact_key FROM given WHERE ${isAccepted}`)}),`
    : sql``
  const attached = hasMedia
    ? sql`
    attached AS (
      INSERT INTO media_blobs (message_id, account_id, mime, bytes)
      SELECT id, account_id, media_mime, CASE WHEN upload_id IS NULL THEN ${contentOf(messages)}::bytea
        ELSE (SELECT string_agg(part.bytes, '' ORDER BY part.position) FROM ${parts}) END
      FROM given WHERE media_bytes IS NOT NULL AND ${isAccepted}
    ),`
    : sql``
  const answers = await sql<AcceptanceRow[]>`
    WITH given AS (
      SELECT given.*, coalesce(given.number, contact.number, given.lid_jid) AS contact_key, contact.lid_jid AS known_lid,
        contact.username, device.id AS device_id, device.link_generation,
        coalesce(${isLinkedIn(sql, 'device')}, false) AS is_linked,
        CASE WHEN ${isPaused(sql, 'device')} THEN device.pause_mode END AS pause_mode, device.pause_until,
        CASE WHEN device.connection <> 'online' THEN device.status_reason END AS away_reason,
        CASE WHEN device.connection <> 'online'
          THEN extract(epoch FROM now() - device.offline_since)::float8 * 1000 END AS away_ms ${hasRoom}
      FROM ${numberedRows(sql, 'given', messages, givenColumns)}
      LEFT JOIN devices AS device ON device.account_id = given.account_id AND device.sender = given.sender
        AND device.deleted_at IS NULL
      LEFT JOIN LATERAL (
        SELECT lid_jid, number, username FROM contacts
        WHERE contacts.account_id = given.account_id
          AND contacts.number IN (SELECT form FROM ${numberForms(sql, 'given.number')} AS forms (form))
        ${hasLids ? orByLid(sql) : sql``}
        LIMIT 1
      ) AS contact ON true
    ),
    ${claimed}
    ${seen}
    ${attached}
    ${hasPriorities ? prioritized(sql, isAccepted) : sql``}
    inserted AS (
      INSERT INTO messages (
        id, account_id, device_id, direction, sender, number, status, wa_id, link_generation, send_at,
        typing_seconds, reference, recipient_jid, priority, expires_at, ${sql.unsafe(contentColumns)}
      )
      SELECT id, account_id, device_id, 'out', sender, contact_key, 'queued', wa_id, link_generation, send_at::timestamptz,
        typing_seconds, reference, lid_jid, coalesce(priority, ${normalPriority}),
        coalesce(send_at::timestamptz, now()) + expires_in * interval '1 second', ${sql.unsafe(givenContent)}
      FROM given WHERE ${isAccepted}
      ORDER BY position
      RETURNING id, account_id, device_id
    ),
    announced AS (${insertMessageEvents(sql, 'message.accepted', 'inserted')})
    SELECT device_id AS "deviceId", is_linked AS "isLinked", CASE WHEN pause_mode IS NOT NULL THEN json_build_object('mode', pause_mode, 'until', pause_until) END AS pause,
      ${hasMedia ? sql`has_room` : sql`true`} AS "hasRoom", ${hasMedia ? sql`is_complete` : sql`true`} AS "isComplete",
      contact_key AS "contactKey", known_lid AS "knownLid", username, away_reason AS "awayReason", away_ms AS "awayMs", ${isAccepted} AS "isAccepted"
    FROM given
    ORDER BY position`
  return answers.map(toAcceptance)
}

/** SQL: the owners of these devices have to look for other priorities. Locked in one order everywhere, and once only. */
const prioritized = (sql: Database['$client'], isAccepted: Fragment) => sql`
    prioritized AS (
      UPDATE devices SET uses_priorities = true WHERE id IN (
        SELECT id FROM devices WHERE NOT uses_priorities AND id IN (
          SELECT device_id FROM given WHERE priority IS NOT NULL AND ${isAccepted})
        ORDER BY id FOR NO KEY UPDATE)
    ),`

const orByLid = (sql: Database['$client']) => sql`
  UNION ALL
  SELECT lid_jid, number, username FROM contacts
  WHERE contacts.account_id = given.account_id AND contacts.lid_jid = given.lid_jid`

const givenColumns: Columns<NewMessage> = {
  id: ['uuid', ({ id }) => id],
  wa_id: ['text', ({ waId }) => waId],
  account_id: ['int', ({ accountId }) => accountId],
  sender: ['text', ({ sender }) => sender],
  number: ['text', ({ number }) => number],
  lid_jid: ['text', ({ lidJid }) => lidJid ?? null],
  ...givenContentColumns,
  send_at: ['text', ({ sendAt }) => sendAt],
  // Null for most, which costs less.
  priority: ['int', ({ priority }) => (priority === normalPriority ? null : (priority ?? null))],
  expires_in: ['int', ({ expiresInSeconds }) => expiresInSeconds ?? null],
  typing_seconds: ['int', ({ typingSeconds }) => typingSeconds ?? null],
  reference: ['text', ({ reference }) => reference ?? null],
  media_mime: ['text', ({ media }) => media?.mime ?? null],
  media_bytes: ['int', ({ media }) => media?.bytes ?? null],
  upload_id: ['uuid', ({ media }) => (media && 'uploadId' in media ? media.uploadId : null)],
  operation: ['text', ({ idempotency }) => idempotency?.operation ?? null],
  key: ['text', ({ idempotency }) => idempotency?.key ?? null],
  payload_hash: ['text', ({ idempotency }) => idempotency?.payloadHash ?? null],
}

function contentOf(messages: NewMessage[]): Buffer | null {
  const contents = messages.flatMap(({ media }) => (media && 'content' in media ? [media.content] : []))
  if (contents.length > 1) throw new TypeError('Two messages of one statement have media as content')
  return contents[0] ?? null
}

type Fragment = postgres.PendingQuery<postgres.Row[]>

type AcceptanceRow = {
  deviceId: number | null
  isLinked: boolean
  pause: { mode: PauseMode; until: string | null } | null
  hasRoom: boolean
  isComplete: boolean
  contactKey: string
  knownLid: string | null
  username: string | null
  awayReason: string | null
  awayMs: number | null
  isAccepted: boolean
}

function toAcceptance(row: AcceptanceRow): Acceptance {
  const { deviceId, isLinked, pause, hasRoom, isComplete, awayReason, awayMs, isAccepted } = row
  if (deviceId === null) return { outcome: 'sender_not_found' }
  if (!isLinked) return { outcome: 'sender_not_connected' }
  const hold = pause && { until: pause.until === null ? null : new Date(pause.until) }
  if (hold && pause.mode === 'refuse') return { outcome: 'sender_paused', ...hold }
  if (isBlocking(awayReason)) return { outcome: 'sender_blocked', reason: awayReason }
  if (!hasRoom) return { outcome: 'media_full' }
  if (!isComplete) return { outcome: 'media_lost' }
  if (!isAccepted) return { outcome: 'key_used' }
  const away = awayReason === null ? null : { reason: awayReason, forMs: awayMs ?? 0 }
  const { contactKey: key, knownLid, username } = row
  const contact = { key, number: numberOf(key), lid: lidOf(knownLid ?? key), username }
  return { outcome: 'accepted', deviceId, away, hold, contact }
}

/** Part of the statement's text, because parameters would cost more than the comparison. */
function blocking(sql: Database['$client']) {
  return sql.unsafe(blockingReasons.map((reason) => `'${reason}'`).join(', '))
}

function isBlocking(reason: string | null): reason is string {
  return blockingReasons.some((blockingReason) => blockingReason === reason)
}
