import { earlierMessageId, timeOfMessageId } from '@wagate/shared/ids'
import type { MessageErrorCode } from '@wagate/shared/message-errors'
import type { MessageType } from '@wagate/shared/statuses'
import type postgres from 'postgres'
import type { Database } from '../client.ts'
import { isLinkedIn } from './device-status.ts'
import { dueMessages } from './due-messages.ts'
import { type Fence, fenceOf, fencesOf, leaseColumns, leaseKey, OwnershipLost } from './fence.ts'
import { type Columns, rows } from './rows.ts'

/** A message that waits for its device. `createdAt` is Postgres' text of it: it finds the partition. */
export type WaitingMessage = {
  id: string
  seq: number
  createdAt: string
  waId: string
  number: string
  recipientJid: string | null
  type: MessageType
  body: string | null
  url: string | null
  filename: string | null
  uploadedContent: Buffer | null
  status: 'queued' | 'sending'
  /** How many owners in a row died or lost their lease while they held it. */
  interruptions: number
}

/**
 * Messages that cannot leave soon. `newContacts`: to numbers that this device has neither written to nor heard of.
 * `unprepared`: media that are not uploaded. `attempted`: sent before, without an answer.
 */
export type Hindrance = 'newContacts' | 'unprepared' | 'attempted'

export type WaitingQuery = {
  except: string[]
  exceptNumbers: string[]
  /** Leaves these out, and what waits behind them for the same number. */
  without: Hindrance[]
  limit: number
}

/** The waiting messages of a device that are due, in their order. */
export async function listWaitingMessages(
  db: Database,
  deviceId: number,
  { except, exceptNumbers, without, limit }: WaitingQuery,
): Promise<WaitingMessage[]> {
  const sql = db.$client
  const where = sql`
    AND number <> ALL(${exceptNumbers}::text[])
    ${without.includes('newContacts') ? isContact(db, deviceId) : sql``}`
  const isOther = sql`AND id <> ALL(${except}::uuid[])`
  const hindrances = without.flatMap((kind) => (kind === 'newContacts' ? [] : isHindered[kind](db)))
  const [first, ...rest] = hindrances
  const columns = sql`
    id, seq::float8 AS seq, created_at::text AS "createdAt", wa_id AS "waId", number, recipient_jid AS "recipientJid",
    type, body, url, filename, uploaded_content AS "uploadedContent", status, interruptions`
  if (!first) {
    return sql<WaitingMessage[]>`
      SELECT ${columns} FROM ${dueMessages(sql, deviceId, { where: sql`${where} ${isOther}`, limit })} AS due
      ORDER BY due.seq LIMIT ${limit}`
  }
  // The window needs all waiting messages of the device, but only their keys.
  return sql<WaitingMessage[]>`
    SELECT ${columns} FROM messages JOIN (
      SELECT id, created_at FROM (
        SELECT id, created_at, seq, bool_or(${rest.reduce((all, other) => sql`${all} OR ${other}`, first)})
          OVER (PARTITION BY number COLLATE "C" ORDER BY seq) AS is_behind
        FROM ${dueMessages(sql, deviceId, { where })} AS due
      ) AS lane
      WHERE NOT is_behind ${isOther}
      ORDER BY seq LIMIT ${limit}
    ) AS found USING (id, created_at)
    ORDER BY messages.seq`
}

const isHindered = {
  unprepared: (db: Database) => db.$client`(type <> 'text' AND uploaded_content IS NULL)`,
  attempted: (db: Database) => db.$client`status = 'sending'`,
}

/** Scheduled ones included; counts no further than `most`. */
export async function countWaiting(db: Database, deviceId: number, most: number): Promise<number> {
  const [row] = await db.$client<{ waiting: number }[]>`
    SELECT count(*)::int AS waiting FROM (
      (SELECT FROM messages WHERE device_id = ${deviceId} AND is_waiting AND send_at IS NULL LIMIT ${most})
      UNION ALL
      (SELECT FROM messages WHERE device_id = ${deviceId} AND is_waiting AND send_at IS NOT NULL LIMIT ${most})
      LIMIT ${most}
    ) AS waiting`
  return row?.waiting ?? 0
}

const contactDays = 30

/**
 * Numbers that WhatsApp took something for, or brought something from, not long ago. IS TRUE keeps the planner from
 * making a join of it: it hashes the contacts once and still walks the messages in their order, up to the limit.
 * 150 ms where 110,000 messages wait and none is for a contact, 6 s and more as a join.
 */
const isContact = (db: Database, deviceId: number) => db.$client`
  AND (number IN (
    SELECT DISTINCT number FROM messages
    WHERE device_id = ${deviceId} AND (sent_at IS NOT NULL OR direction = 'in')
      AND created_at BETWEEN now() - ${contactDays} * interval '1 day' AND now()
  )) IS TRUE`

/** What left the device since the day of UTC began. A message may have been accepted long before. */
export async function findSentToday(
  db: Database,
  deviceId: number,
): Promise<{ sent: number; unanswered: string[] }> {
  const sql = db.$client
  const [row] = await sql<{ sent: number; unanswered: string[] }[]>`
    SELECT
      (SELECT count(*)::int FROM messages
        WHERE device_id = ${deviceId} AND sent_at >= date_trunc('day', now(), 'UTC')
          AND created_at BETWEEN now() - interval '62 days' AND now() + interval '1 day') AS sent,
      ARRAY(SELECT wa_id FROM ${dueMessages(sql, deviceId)} AS due WHERE status = 'sending') AS unanswered`
  return row ?? { sent: 0, unanswered: [] }
}

export type Claim = {
  fence: Fence
  id: string
  createdAt: string
  /** Null for media that are prepared first: they can still be canceled. */
  recipientJid: string | null
  /** What kept it from being sent the last time; null leaves what is stored. */
  setback: string | null
}

/**
 * Marks messages as held by their owner, and as `sending` right before they are sent. Answers how many earlier owners
 * died while they held it; undefined when it was canceled, when it was accepted for another link of its device, or when
 * the shard has another owner.
 */
export async function claimMessages(db: Database, claims: Claim[]): Promise<(number | undefined)[]> {
  const sql = db.$client
  const marked = await sql<{ id: string; interruptions: number }[]>`
    WITH valid AS (${fencesOf(
      sql,
      claims.map(({ fence }) => fence),
    )})
    UPDATE messages AS message SET
      status = CASE WHEN given.recipient_jid IS NULL THEN message.status ELSE 'sending' END,
      recipient_jid = coalesce(given.recipient_jid, message.recipient_jid),
      held_epoch = valid.epoch,
      interruptions = message.interruptions + ((message.held_epoch = valid.died_epoch) IS TRUE)::int,
      setback = coalesce(given.setback, message.setback)
    FROM valid JOIN ${rows(sql, 'given', claims, {
      ...leaseColumns,
      id: ['uuid', ({ id }) => id],
      created_at: ['text', ({ createdAt }) => createdAt],
      recipient_jid: ['text', ({ recipientJid }) => recipientJid],
      setback: ['text', ({ setback }) => setback],
    })} USING (shard, epoch), devices AS device
    WHERE message.id = given.id AND message.created_at = given.created_at::timestamptz
      AND device.id = message.device_id AND device.link_generation = message.link_generation
      AND ${isLinkedIn(sql, 'device')}
      AND message.is_waiting
    RETURNING message.id, message.interruptions`
  const claimed = new Map(marked.map(({ id, interruptions }) => [id, interruptions]))
  return claims.map(({ id }) => claimed.get(id))
}

/**
 * Takes the marks back: if their owner dies from now on, these messages had no part in it. What was handled without a
 * death is no suspect any more.
 */
export async function unmarkMessages(
  db: Database,
  held: { fence: Fence; id: string; createdAt: string }[],
): Promise<void> {
  const sql = db.$client
  await sql`
    WITH valid AS (${fencesOf(
      sql,
      held.map(({ fence }) => fence),
    )})
    UPDATE messages AS message SET held_epoch = NULL, interruptions = 0
    FROM valid JOIN ${rows(sql, 'given', held, {
      ...leaseColumns,
      id: ['uuid', ({ id }) => id],
      created_at: ['text', ({ createdAt }) => createdAt],
    })} USING (shard, epoch)
    WHERE message.id = given.id AND message.created_at = given.created_at::timestamptz
      AND message.held_epoch = valid.epoch`
}

export type MessageOutcome = {
  fence: Fence
  deviceId: number
  messageId: string
  /** Postgres' text of when the message was accepted, where it is known. Else the id tells it, to a day. */
  createdAt?: string
  status: 'sent' | 'delivered' | 'read' | 'failed'
  /** ISO 8601; when it happened, by WhatsApp's clock where it says so. One before the message or after now is not believed. */
  at: string
  error?: { code: MessageErrorCode; sentence: string }
  /** To whom it was sent, where that is known: a crash of Postgres may have undone the claim that says it. */
  recipientJid?: string | null
  /** The addresses of who says so. Of a contact that is not the recipient nothing is recorded. */
  saidBy?: { jid: string; otherJid: string | null }
}

/**
 * Records what became of messages, in one statement. It only moves forward: a late `sent` does not lower
 * `read`; a receipt may replace `failed`, because the recipient is the better witness. Answers for each whether its
 * owner still owned the shard; nothing of the others was recorded. What belongs to no message, also not to one that is
 * older than its id of WhatsApp suggests, goes to `onUnknown`.
 */
export async function recordOutcomes(
  db: Database,
  outcomes: MessageOutcome[],
  onUnknown: (unknown: MessageOutcome[]) => void = () => undefined,
): Promise<(OwnershipLost | undefined)[]> {
  const { validLeases, unknown } = await recordKnown(db, outcomes)
  if (unknown.length > 0) {
    const older = unknown.map((outcome) => ({ ...outcome, messageId: earlierMessageId(outcome.messageId) }))
    const again = await recordKnown(db, older)
    if (again.unknown.length > 0) onUnknown(again.unknown)
  }
  return outcomes.map(({ fence }) =>
    validLeases.has(leaseKey(fence)) ? undefined : new OwnershipLost(fence),
  )
}

/** `unknown`: those of valid owners whose message was not found. */
async function recordKnown(
  db: Database,
  outcomes: MessageOutcome[],
): Promise<{ validLeases: Set<string>; unknown: MessageOutcome[] }> {
  const sql = db.$client
  const isBetween = createdBetween(sql, outcomes)
  // The clocks of workers may be wrong.
  const plausible = (at: postgres.Fragment) => sql`least(greatest(${at}, message.created_at), now())`
  const [answer] = await sql<{ leases: string[]; recorded: string[] }[]>`
    WITH valid AS (${fencesOf(
      sql,
      outcomes.map(({ fence }) => fence),
    )}),
    given AS (
      SELECT device_id, id, max(rank) AS rank,
        min(at::timestamptz) FILTER (WHERE rank >= 1) AS sent_at,
        min(at::timestamptz) FILTER (WHERE rank >= 2) AS delivered_at,
        min(at::timestamptz) FILTER (WHERE rank = 3) AS read_at, max(code) AS code, max(sentence) AS sentence,
        max(recipient_jid) AS recipient_jid
      FROM valid JOIN ${rows(sql, 'outcome', outcomes, outcomeColumns)} USING (shard, epoch)
      WHERE jid IS NULL OR coalesce(
        (SELECT recipient_jid FROM messages WHERE messages.id = outcome.id AND ${isBetween}),
        recipient_jid
      ) IN (jid, other_jid)
      GROUP BY device_id, id
    ),
    recorded AS (
      UPDATE messages AS message SET
        status = CASE
          WHEN given.rank = 0 THEN 'failed'
          ELSE (ARRAY['sent', 'delivered', 'read'])[greatest(given.rank,
            CASE message.status WHEN 'sent' THEN 1 WHEN 'delivered' THEN 2 WHEN 'read' THEN 3 ELSE 0 END)]
        END,
        sent_at = coalesce(message.sent_at, CASE WHEN given.rank >= 1 THEN ${plausible(sql`given.sent_at`)} END),
        delivered_at = coalesce(message.delivered_at, CASE WHEN given.rank >= 2 THEN ${plausible(sql`given.delivered_at`)} END),
        read_at = coalesce(message.read_at, CASE WHEN given.rank = 3 THEN ${plausible(sql`given.read_at`)} END),
        recipient_jid = coalesce(message.recipient_jid, given.recipient_jid),
        error_code = CASE WHEN given.rank = 0 THEN given.code END,
        error = CASE WHEN given.rank = 0 THEN given.sentence END
      FROM given
      WHERE message.id = given.id AND message.device_id = given.device_id AND message.direction = 'out'
        AND ${isBetween}
        AND CASE
          WHEN given.rank = 0 THEN message.is_waiting
          WHEN given.rank = 1 THEN message.status IN ('queued', 'sending', 'sent')
          ELSE message.status <> 'canceled'
        END
      RETURNING message.id
    )
    SELECT ARRAY(SELECT shard || ' ' || epoch FROM valid) AS leases, ARRAY(SELECT id FROM recorded) AS recorded`
  const validLeases = new Set(answer?.leases)
  const recorded = new Set(answer?.recorded)
  const others = outcomes.filter(
    ({ fence, messageId }) => validLeases.has(leaseKey(fence)) && !recorded.has(messageId),
  )
  return { validLeases, unknown: others.length > 0 ? await listUnknown(db, others) : [] }
}

async function listUnknown(db: Database, outcomes: MessageOutcome[]): Promise<MessageOutcome[]> {
  const sql = db.$client
  const known = await sql<{ id: string; deviceId: number }[]>`
    SELECT id, device_id AS "deviceId" FROM messages
    WHERE id = ANY (${outcomes.map(({ messageId }) => messageId)}::uuid[]) AND ${createdBetween(sql, outcomes)}`
  return outcomes.filter(
    ({ messageId, deviceId }) => !known.some((row) => row.id === messageId && row.deviceId === deviceId),
  )
}

const outcomeColumns: Columns<MessageOutcome> = {
  ...leaseColumns,
  device_id: ['int', ({ deviceId }) => deviceId],
  id: ['uuid', ({ messageId }) => messageId],
  rank: ['int', ({ status }) => ranks[status]],
  at: ['text', ({ at }) => at],
  code: ['text', ({ error }) => error?.code ?? null],
  sentence: ['text', ({ error }) => error?.sentence ?? null],
  recipient_jid: ['text', ({ recipientJid }) => recipientJid ?? null],
  jid: ['text', ({ saidBy }) => saidBy?.jid ?? null],
  other_jid: ['text', ({ saidBy }) => saidBy?.otherJid ?? null],
}

/** The partitions in which the messages of these outcomes can be. */
function createdBetween(sql: postgres.Sql, outcomes: Pick<MessageOutcome, 'messageId' | 'createdAt'>[]) {
  const times = outcomes.map(({ messageId, createdAt }) =>
    createdAt === undefined ? timeOfMessageId(messageId) : Date.parse(createdAt),
  )
  const at = (ms: number) => sql`to_timestamp(${ms / 1000}::float8)`
  return sql`created_at BETWEEN ${at(Math.min(...times))} - interval '1 day' AND ${at(Math.max(...times))} + interval '1 day'`
}

const ranks = { failed: 0, sent: 1, delivered: 2, read: 3 } as const

/** After an upload: a resend needs only this, so the bytes that came with the request can go. */
export async function storeUploadedContent(
  db: Database,
  fence: Fence,
  message: { id: string; createdAt: string; content: Buffer },
): Promise<void> {
  const sql = db.$client
  await sql`
    WITH fence AS (${fenceOf(sql, fence)}),
    dropped AS (DELETE FROM media_blobs USING fence WHERE message_id = ${message.id})
    UPDATE messages SET uploaded_content = ${message.content}, held_epoch = NULL, interruptions = 0
    FROM fence WHERE id = ${message.id} AND created_at = ${message.createdAt}::timestamptz`
}

export async function findUploadedContent(
  db: Database,
  message: { id: string; createdAt: string },
): Promise<Buffer | undefined> {
  const [row] = await db.$client<{ content: Buffer | null }[]>`
    SELECT uploaded_content AS content FROM messages
    WHERE id = ${message.id} AND created_at = ${message.createdAt}::timestamptz`
  return row?.content ?? undefined
}

/** The type that the data: URL of a message claimed, and how many bytes it has. */
export async function findMediaBlob(
  db: Database,
  messageId: string,
): Promise<{ mime: string; size: number } | undefined> {
  const [row] = await db.$client<{ mime: string; size: number }[]>`
    SELECT mime, octet_length(bytes) AS size FROM media_blobs WHERE message_id = ${messageId}`
  return row
}

/** A part, so that a slow link to Postgres takes several statements and not one that is too long. */
export async function findMediaBlobPart(
  db: Database,
  messageId: string,
  part: { start: number; length: number },
): Promise<Buffer | undefined> {
  const [row] = await db.$client<{ bytes: Buffer }[]>`
    SELECT substring(bytes FROM ${part.start + 1}::int FOR ${part.length}::int) AS bytes
    FROM media_blobs WHERE message_id = ${messageId}`
  return row?.bytes
}

type SentContent = { id: string; type: MessageType; body: string | null; uploadedContent: Buffer | null }

/** What was sent, for a recipient that asks for it again. The message may be older than the id suggests. */
export async function findSentContent(
  db: Database,
  deviceId: number,
  messageId: string,
  /** The addresses of who asks. */
  askedBy: string[],
): Promise<SentContent | undefined> {
  const sql = db.$client
  for (const id of [messageId, earlierMessageId(messageId)]) {
    const [row] = await sql<SentContent[]>`
      SELECT id, type, body, uploaded_content AS "uploadedContent" FROM messages
      WHERE id = ${id} AND device_id = ${deviceId} AND direction = 'out'
        AND recipient_jid = ANY(${askedBy}) AND status IN ('sending', 'sent', 'delivered', 'read')
        AND ${createdBetween(sql, [{ messageId: id }])}`
    if (row) return row
  }
  return undefined
}
