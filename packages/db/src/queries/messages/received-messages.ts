import type { MessageType } from '@wagate/shared/message-kinds'
import type { MessageContent, QuotedMessage } from '@wagate/shared/objects/message-content'
import type { UnavailableReason } from '@wagate/shared/unavailable'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { type Consent, consentSteps } from '../contacts/consent-steps.ts'
import { seenLids } from '../contacts/known-contacts.ts'
import { insertReceivedMedia, mediaColumns, type NewReceivedMedia } from '../media/received-media-rows.ts'
import { insertMessageEvents, receivedSteps } from '../statements/event-rows.ts'
import { type Fence, fencesOf, leaseColumns, lostWrites, type OwnershipLost } from '../statements/fence.ts'
import { type Columns, numberedRows } from '../statements/rows.ts'
import { newWriteKeys } from '../statements/write-keys.ts'
import {
  findTarget,
  isFrom,
  type ReceivedSource,
  receivedKeyOf,
  redeliveryDays,
  targetColumns,
  unknownNumber,
} from './known-messages.ts'
import { isKnownChange } from './message-changes.ts'

export type ReceivedMessage = {
  fence: Fence
  id: string
  accountId: number
  deviceId: number
  sender: string
  /** The number that sent it. Null when WhatsApp does not tell it. */
  number: string | null
  /** The address that sent it, such as a LID, if it is known and not the number. */
  contactJid?: string | null
  type: MessageType
  body: string | null
  content?: MessageContent | null
  quoted?: Quoted | null
  consent?: Consent | null
  waId: string
  linkGeneration: number
  /** Its file, if it has one. */
  media?: NewReceivedMedia | undefined
  /** Where the account itself has written it, to this contact. All messages of a call have the same. */
  writtenOn?: 'phone' | 'companion' | undefined
  /** ISO 8601, by WhatsApp's clock. */
  writtenAt?: string | null
  pushName?: string | null
  /** Why it has no content. */
  unavailable?: UnavailableReason | null
  /** `id` is that of a message that was stored without its content: this is its content. */
  isReplacement?: boolean
}

/** What a message says about the message that it quotes. */
export type Quoted = Pick<QuotedMessage, 'from_me' | 'type' | 'text'> & { waId: string }

/**
 * Stores received messages in one fenced statement, each once: WhatsApp delivers a message again until it is acknowledged,
 * and the caller repeats what had no answer. The contact is part of a message's identity, because clients choose their ids.
 * Returns an error for each message whose owner had lost its shard; it was not stored.
 */
export async function insertReceivedMessages(
  db: Database,
  messages: ReceivedMessage[],
): Promise<(OwnershipLost | undefined)[]> {
  const sql = db.$client
  // For messages that quote nothing, the search would cost as much as the rest.
  const quotedRow = messages.some(({ quoted }) => quoted)
    ? sql`LEFT JOIN LATERAL (${findTarget(sql)}) AS quoted_row ON true`
    : sql`CROSS JOIN (SELECT NULL::uuid AS id, NULL AS direction) AS quoted_row`
  // For messages that name their number, this step would find nothing.
  const hasUnknown = messages.some(({ number }) => number === null)
  const contact = hasUnknown
    ? sql`
      LEFT JOIN LATERAL (
        SELECT number FROM contacts
        WHERE account_id = given.account_id AND lid_jid = given.contact_jid AND given.number = ${unknownNumber} LIMIT 1
      ) AS contact ON true`
    : sql`CROSS JOIN (SELECT NULL AS number) AS contact`
  const seen = hasUnknown
    ? sql`seen AS (${seenLids(sql, sql`SELECT account_id, contact_key FROM given`)}),`
    : sql``
  const own = messages.some(({ writtenOn }) => writtenOn)
  const ofKnown = own ? sql`known.source IS NOT NULL` : sql`known.direction = 'in'`
  const replaced = messages.some(({ isReplacement }) => isReplacement)
    ? replaceUnavailable(sql)
    : noReplaced(sql)
  const consents = messages.some(({ consent }) => consent) ? consentSteps(sql) : sql``
  const told = own
    ? sql`announced AS (${insertMessageEvents(sql, 'message.sent_from_phone', 'stored', 'written_at')})`
    : receivedSteps(sql, { stored: 'stored', inserted: 'inserted' })
  const hasMedia = messages.some(({ media }) => media !== undefined)
  const columns = hasMedia ? { ...rowColumns, ...mediaColumns } : rowColumns
  const valid = await sql<{ lease: string }[]>`
    WITH valid AS (${fencesOf(
      sql,
      messages.map(({ fence }) => fence),
    )}),
    given AS (
      SELECT DISTINCT ON (key) given.*, quoted_row.id AS quoted_id, quoted_row.direction = 'out' AS is_quoted_own,
        coalesce(nullif(given.number, ${unknownNumber}), contact.number,
          CASE WHEN given.contact_jid LIKE '%@lid' THEN given.contact_jid END, ${unknownNumber}) AS contact_key
      FROM valid JOIN ${numberedRows(sql, 'given', messages, columns)} USING (shard, epoch)
      ${contact}
      ${quotedRow}
      ORDER BY key, position
    ),
    ${seen}
    keys AS (${newWriteKeys(sql, sql`SELECT key FROM given ORDER BY key`)}),
    inserted AS (
      INSERT INTO messages
        (id, account_id, device_id, sender, number, recipient_jid, direction, type, body, status, wa_id,
          link_generation, content, reply_to, unavailable, written_at, push_name, source)
      SELECT id, account_id, device_id, sender, contact_key, contact_jid, ${own ? 'out' : 'in'}, type, body, ${own ? 'sent' : 'received'}, wa_id,
        link_generation, content::jsonb, quoted::jsonb || jsonb_build_object(
          'message_id', quoted_id, 'from_me', coalesce(is_quoted_own, (quoted::jsonb ->> 'from_me')::boolean)),
        unavailable, written_at::timestamptz, push_name, source
      FROM given JOIN keys USING (key)
      -- As a join, the search reads the whole week in plans that were made while it was empty. OFFSET prevents the join.
      WHERE NOT EXISTS (
        SELECT FROM messages AS known
        WHERE known.device_id = given.device_id AND known.wa_id = given.wa_id
          AND ${ofKnown} AND known.created_at >= now() - ${redeliveryDays} * interval '1 day'
          AND ${isFrom(sql, { number: sql`given.number`, contactJid: sql`given.contact_jid` })}
        OFFSET 0)
      ORDER BY position
      RETURNING id, account_id, device_id, sender, written_at
    ),
    ${replaced},
    stored AS (SELECT * FROM inserted UNION ALL SELECT * FROM replaced),
    ${hasMedia ? sql`attached AS (${insertReceivedMedia(sql)}),` : sql``}
    ${told}
    ${consents}
    SELECT shard || ' ' || epoch AS lease FROM valid`
  return lostWrites(
    messages,
    valid.map(({ lease }) => lease),
  )
}

/** A step that gives messages which were stored without their content what arrived for them. Their ids stay. */
function replaceUnavailable(sql: postgres.Sql) {
  return sql`
    replaced AS (
      UPDATE messages AS known SET type = given.type, body = given.body, content = given.content::jsonb,
        reply_to = given.quoted::jsonb || jsonb_build_object('message_id', quoted_id, 'from_me',
          coalesce(is_quoted_own, (given.quoted::jsonb ->> 'from_me')::boolean)),
        unavailable = NULL, written_at = coalesce(known.written_at, given.written_at::timestamptz)
      FROM given JOIN keys USING (key)
      WHERE given.is_replacement = 1 AND given.unavailable IS NULL AND known.id = given.id
        AND known.device_id = given.device_id AND known.unavailable IS NOT NULL
        AND known.created_at >= now() - ${redeliveryDays} * interval '1 day'
      RETURNING known.id, known.account_id, known.device_id, known.sender, known.written_at
    )`
}

const noReplaced = (sql: postgres.Sql) => sql`replaced AS (SELECT * FROM inserted WHERE false)`

/** The message that was stored without its content, if there is one. */
export async function findUnavailable(
  db: Database,
  deviceId: number,
  { waId, number, contactJid, writtenOn }: ReceivedSource & Pick<ReceivedMessage, 'writtenOn'>,
): Promise<string | undefined> {
  const sql = db.$client
  const ofKnown = writtenOn ? sql`source IS NOT NULL` : sql`direction = 'in'`
  const [found] = await sql<{ id: string }[]>`
    SELECT id FROM messages AS known
    WHERE device_id = ${deviceId} AND wa_id = ${waId} AND ${ofKnown} AND unavailable IS NOT NULL
      AND created_at >= now() - ${redeliveryDays} * interval '1 day'
      AND ${isFrom(sql, {
        number: sql`${number ?? unknownNumber}::text`,
        contactJid: sql`${contactJid ?? null}::text`,
      })}
    LIMIT 1`
  return found?.id
}

/** One for the message without its content, and another for its content. */
function writeKeyOfMessage(message: ReceivedMessage): string {
  if (message.writtenOn) return receivedKeyOf(message, message.unavailable ? 'own unavailable' : 'own')
  return receivedKeyOf(message, message.unavailable ? 'unavailable' : 'received')
}

const rowColumns: Columns<ReceivedMessage> = {
  ...leaseColumns,
  key: ['uuid', writeKeyOfMessage],
  id: ['uuid', ({ id }) => id],
  account_id: ['int', ({ accountId }) => accountId],
  device_id: ['int', ({ deviceId }) => deviceId],
  sender: ['text', ({ sender }) => sender],
  number: ['text', ({ number }) => number ?? unknownNumber],
  contact_jid: ['text', ({ contactJid }) => contactJid ?? null],
  type: ['text', ({ type }) => type],
  body: ['text', ({ body }) => body],
  wa_id: ['text', ({ waId }) => waId],
  link_generation: ['int', ({ linkGeneration }) => linkGeneration],
  content: ['text', ({ content }) => (content ? JSON.stringify(content) : null)],
  quoted: ['text', ({ quoted }) => (quoted ? quotedJson(quoted) : null)],
  consent: ['text', ({ consent }) => consent ?? null],
  unavailable: ['text', ({ unavailable }) => unavailable ?? null],
  written_at: ['text', ({ writtenAt }) => writtenAt ?? null],
  // Its own name, for what the account has written.
  push_name: ['text', ({ pushName, writtenOn }) => (writtenOn ? null : (pushName ?? null))],
  source: ['text', ({ writtenOn }) => writtenOn ?? null],
  is_replacement: ['int', ({ isReplacement }) => Number(isReplacement ?? false)],
  ...targetColumns(({ quoted }) => quoted?.waId ?? null),
}

function quotedJson({ waId, ...quoted }: Quoted): string {
  return JSON.stringify({ wa_message_id: waId, ...quoted })
}

/** Whether it was stored with its content. */
export async function isReceived(
  db: Database,
  deviceId: number,
  { waId, number, contactJid, writtenOn }: ReceivedSource & Pick<ReceivedMessage, 'writtenOn'>,
): Promise<boolean> {
  const ofKnown = writtenOn ? db.$client`source IS NOT NULL` : db.$client`direction = 'in'`
  const found = await db.$client`
    SELECT FROM messages AS known
    WHERE device_id = ${deviceId} AND wa_id = ${waId} AND ${ofKnown} AND unavailable IS NULL
      AND created_at >= now() - ${redeliveryDays} * interval '1 day'
      AND ${isFrom(db.$client, {
        number: db.$client`${number ?? unknownNumber}::text`,
        contactJid: db.$client`${contactJid ?? null}::text`,
      })}
    LIMIT 1`
  return found.length > 0 || isKnownChange(db, deviceId, { waId, number, contactJid: contactJid ?? null })
}
