import { eventTypes } from '@wagate/shared/event-types'
import type { Database } from '../../client.ts'
import { type Fence, fencesOf, leaseColumns, lostWrites, type OwnershipLost } from '../statements/fence.ts'
import { type Columns, numberedRows } from '../statements/rows.ts'
import { newWriteKeys } from '../statements/write-keys.ts'
import {
  findTarget,
  type ReceivedSource,
  receivedKeyOf,
  redeliveryDays,
  targetColumns,
  unknownNumber,
} from './known-messages.ts'

export type MessageChangeKind = 'reaction' | 'edited' | 'deleted' | 'poll_vote'

/** What a contact, or the account itself elsewhere, does with a message of their chat. */
export type MessageChange = {
  fence: Fence
  accountId: number
  deviceId: number
  sender: string
  /** Of the stanza that brings the change. */
  waId: string
  number: string | null
  contactJid?: string | null
  kind: MessageChangeKind
  /** The id of the changed message at WhatsApp. */
  target: string
  /** The sender has written that message, not the contact. */
  fromMe: boolean
  /** Of a reaction: the emoji, or null when it is removed. Of an edit: the text. */
  text: string | null
  /** Of a vote: what was chosen. Null when the poll is unknown. */
  options?: string[] | null
  /** An edit that could not be read. The message keeps its former text. */
  isUnread?: boolean
  /** The account itself changes it, elsewhere. */
  writtenOn?: 'phone' | 'companion' | undefined
}

/** In characters. An event has the text of an edit only if the message is not known. */
const unknownTextMax = 4096

/**
 * Records changes in one fenced statement, each once, however often WhatsApp delivers it. Contacts, and the account itself,
 * can edit and delete only what they have written. A change of an unknown message is an event without a message. Returns an error for each
 * change whose owner had lost its shard; it was not recorded.
 */
export async function recordMessageChanges(
  db: Database,
  changes: MessageChange[],
): Promise<(OwnershipLost | undefined)[]> {
  const sql = db.$client
  const { reaction, edited, deleted } = numbers
  const valid = await sql<{ lease: string }[]>`
    WITH valid AS (${fencesOf(
      sql,
      changes.map(({ fence }) => fence),
    )}),
    asked AS (
      SELECT DISTINCT ON (key) given.*, target_row.id AS message_id, target_row.created_at AS message_at
      FROM valid JOIN ${numberedRows(sql, 'given', changes, changeColumns)} USING (shard, epoch)
      LEFT JOIN LATERAL (${findTarget(sql)}) AS target_row
        ON (target_row.direction = 'out') = (given.from_me = 1)
      WHERE NOT EXISTS (
        SELECT FROM events AS known
        WHERE known.device_id = given.device_id AND ${isKnown(db)} AND known.data ->> 'waId' = given.wa_id
          AND (known.data ->> 'number' = nullif(given.number, ${unknownNumber})
            OR known.data ->> 'contactJid' = given.contact_jid))
      ORDER BY key, position
    ),
    keys AS (${newWriteKeys(sql, sql`SELECT key FROM asked ORDER BY key`)}),
    given AS MATERIALIZED (SELECT asked.* FROM asked JOIN keys USING (key)),
    latest AS (
      SELECT message_id, message_at, bool_or(type = ${deleted}) AS is_deleted, bool_or(type = ${edited}) AS is_edited,
        bool_or(type = ${edited} AND is_unread = 0) AS has_text,
        (array_agg(text ORDER BY position DESC) FILTER (WHERE type = ${edited} AND is_unread = 0))[1] AS body
      FROM given WHERE message_id IS NOT NULL AND type IN (${edited}, ${deleted}) AND from_me = by_me
      GROUP BY message_id, message_at
    ),
    changed AS (
      UPDATE messages AS message SET
        body = CASE WHEN latest.is_deleted THEN NULL WHEN latest.has_text THEN latest.body ELSE message.body END,
        edited_at = CASE WHEN latest.is_edited THEN now() ELSE message.edited_at END,
        deleted_at = CASE WHEN latest.is_deleted THEN now() END,
        content = CASE WHEN NOT latest.is_deleted THEN message.content END,
        reply_to = CASE WHEN NOT latest.is_deleted THEN message.reply_to END
      FROM latest
      WHERE message.id = latest.message_id AND message.created_at = latest.message_at AND message.deleted_at IS NULL
    ),
    -- Past its retention: the file is no longer given out, and the next run removes it.
    withdrawn AS (
      UPDATE received_media AS media SET created_at = 'epoch'
      FROM latest WHERE latest.is_deleted AND media.message_id = latest.message_id
    ),
    announced AS (
      INSERT INTO events (account_id, device_id, type, message_id, data)
      SELECT account_id, device_id, type, message_id, jsonb_strip_nulls(jsonb_build_object(
          'waId', wa_id, 'number', number, 'contactJid', contact_jid, 'target', target, 'fromMe', from_me = 1, 'byMe', nullif(by_me = 1, false),
          'text', CASE WHEN type = ${edited} AND message_id IS NULL THEN left(text, ${unknownTextMax}) END
        )) || CASE WHEN type = ${reaction} THEN jsonb_build_object('reaction', text)
          WHEN is_unread = 1 THEN '{"unread": true}'
          WHEN options IS NOT NULL THEN jsonb_build_object('options', options::jsonb) ELSE '{}' END
      FROM given
      ORDER BY position
    )
    SELECT shard || ' ' || epoch AS lease FROM valid`
  return lostWrites(
    changes,
    valid.map(({ lease }) => lease),
  )
}

export async function isKnownChange(
  db: Database,
  deviceId: number,
  { waId, number, contactJid }: ReceivedSource,
): Promise<boolean> {
  const found = await db.$client`
    SELECT FROM events AS known
    WHERE device_id = ${deviceId} AND ${isKnown(db)} AND data ->> 'waId' = ${waId}
      AND (data ->> 'number' = ${number} OR data ->> 'contactJid' = ${contactJid ?? null})
    LIMIT 1`
  return found.length > 0
}

const numbers = {
  reaction: eventTypes['message.reaction'],
  edited: eventTypes['message.edited'],
  deleted: eventTypes['message.deleted'],
  poll_vote: eventTypes['message.poll_vote'],
}

/** As the index on the events has it, so part of the text of the statement. */
const isKnown = (db: Database) => db.$client`
  ${db.$client.unsafe(`known.type IN (${Object.values(numbers).join(', ')})`)}
  AND known.created_at >= now() - ${redeliveryDays} * interval '1 day'`

const changeColumns: Columns<MessageChange> = {
  ...leaseColumns,
  key: ['uuid', (change) => receivedKeyOf(change)],
  account_id: ['int', ({ accountId }) => accountId],
  device_id: ['int', ({ deviceId }) => deviceId],
  type: ['int', ({ kind }) => numbers[kind]],
  wa_id: ['text', ({ waId }) => waId],
  number: ['text', ({ number }) => number ?? unknownNumber],
  contact_jid: ['text', ({ contactJid }) => contactJid ?? null],
  from_me: ['int', ({ fromMe }) => Number(fromMe)],
  text: ['text', ({ text }) => text],
  by_me: ['int', ({ writtenOn }) => Number(writtenOn !== undefined)],
  is_unread: ['int', ({ isUnread }) => Number(isUnread ?? false)],
  options: ['text', ({ options }) => (options ? JSON.stringify(options) : null)],
  ...targetColumns(({ target }) => target),
}
