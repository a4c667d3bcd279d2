import { earlierMessageId, timeOfMessageId } from '@wagate/shared/ids'
import type { MessageErrorCode } from '@wagate/shared/message-errors'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { outcomeSteps } from '../statements/event-rows.ts'
import { type Fence, fencesOf, leaseColumns, leaseKey, OwnershipLost } from '../statements/fence.ts'
import { type Columns, rows } from '../statements/rows.ts'
import { isAcceptedBy } from './accepted-moves.ts'
import { isCreatedAround } from './message-time.ts'
import { withEntry } from './timeline-entries.ts'

export type MessageOutcome = {
  fence: Fence
  deviceId: number
  messageId: string
  /** When the message was accepted, as text from Postgres. Without it the id tells the time, to a day. */
  createdAt?: string
  /** `played`: the recipient has also listened to it, or opened it if that is possible only once. */
  status: 'sent' | 'delivered' | 'read' | 'played' | 'failed'
  /** ISO 8601, by WhatsApp's clock where it gives a time. A time before the message or after now is corrected. */
  at: string
  error?: { code: MessageErrorCode; sentence: string }
  /** The recipient, where it is known: a crash of Postgres may have undone the claim that stored it. */
  recipientJid?: string | null
  /** The addresses of the contact that reports it. Nothing is recorded unless it is the recipient. */
  saidBy?: { jid: string; otherJid: string | null }
}

/** `unknown`: a receipt for a message that the gateway has not sent. */
export type OutcomeResult = 'recorded' | 'unchanged' | 'unknown' | OwnershipLost

/**
 * Records what became of messages, in one statement. A status only moves forward: a late `sent` does not replace `read`.
 * A receipt may replace `failed`, because the recipient knows better, and `sent` a failure that was decided while the message
 * was in flight. Returns an error for each outcome whose owner had lost its shard; it was not recorded. `unchanged`: the
 * message has another status that excludes this one. Outcomes of no known message, except receipts, go to `onUnknown`, after a
 * second search for a message that is older than its WhatsApp id suggests.
 */
export async function recordOutcomes(
  db: Database,
  outcomes: MessageOutcome[],
  onUnknown: (unknown: MessageOutcome[]) => void = () => undefined,
): Promise<OutcomeResult[]> {
  const { validLeases, recorded, unknown } = await recordKnown(db, outcomes)
  const missing = new Set<string>()
  if (unknown.length > 0) {
    const older = unknown.map((outcome) => ({ ...outcome, messageId: earlierMessageId(outcome.messageId) }))
    const again = await recordKnown(db, older)
    for (const { messageId } of unknown) {
      if (again.recorded.has(earlierMessageId(messageId))) recorded.add(messageId)
    }
    for (const { messageId } of again.unknown) missing.add(messageId)
    const acknowledged = again.unknown.filter(({ saidBy }) => !saidBy)
    if (acknowledged.length > 0) onUnknown(acknowledged)
  }
  return outcomes.map(({ fence, messageId, saidBy }) => {
    if (!validLeases.has(leaseKey(fence))) return new OwnershipLost(fence)
    if (saidBy && missing.has(earlierMessageId(messageId))) return 'unknown'
    return recorded.has(messageId) ? 'recorded' : 'unchanged'
  })
}

/** `unknown`: outcomes whose fence holds and whose message was not found. */
async function recordKnown(
  db: Database,
  outcomes: MessageOutcome[],
): Promise<{ validLeases: Set<string>; recorded: Set<string>; unknown: MessageOutcome[] }> {
  const sql = db.$client
  const isInPartitions = (message: string) => isCreatedAround(sql, outcomes.map(timeOf), message)
  // The clock of a worker may be wrong.
  const corrected = (at: postgres.Fragment) => sql`least(greatest(${at}, message.created_at), now())`
  const [answer] = await sql<{ leases: string[]; recorded: string[] }[]>`
    WITH valid AS (${fencesOf(
      sql,
      outcomes.map(({ fence }) => fence),
    )}),
    given AS (
      SELECT device_id, id, max(rank) AS rank,
        min(at::timestamptz) FILTER (WHERE rank >= 1) AS sent_at,
        min(at::timestamptz) FILTER (WHERE rank >= 2) AS delivered_at,
        min(at::timestamptz) FILTER (WHERE rank >= 3) AS read_at,
        min(at::timestamptz) FILTER (WHERE rank = 4) AS played_at, max(code) AS code, max(sentence) AS sentence,
        max(recipient_jid) AS recipient_jid
      FROM valid JOIN ${rows(sql, 'outcome', outcomes, outcomeColumns)} USING (shard, epoch)
      -- A contact that was written to at its LID may answer from its number.
      WHERE jid IS NULL OR coalesce(
        (SELECT ARRAY[recipient_jid, CASE WHEN recipient_jid LIKE '%@lid' THEN number || '@s.whatsapp.net' END]
          FROM messages
          WHERE messages.id = outcome.id AND recipient_jid IS NOT NULL AND ${isInPartitions('messages')}),
        ARRAY[recipient_jid]
      ) && ARRAY[jid, other_jid]
      GROUP BY device_id, id
    ),
    found AS MATERIALIZED (
      SELECT id, created_at FROM messages WHERE id IN (SELECT id FROM given) AND ${isInPartitions('messages')}
    ),
    -- Locked: what a statement has done that is still committing would be recorded again.
    before AS MATERIALIZED (
      SELECT message.id, message.created_at, sent_at, delivered_at, read_at, played_at
      FROM messages AS message JOIN found ON message.id = found.id AND message.created_at = found.created_at
      ORDER BY message.id FOR NO KEY UPDATE OF message
    ),
    recorded AS (
      UPDATE messages AS message SET
        status = CASE
          WHEN given.rank = 0 THEN 'failed'
          ELSE (ARRAY['sent', 'delivered', 'read'])[greatest(least(given.rank, 3),
            CASE message.status WHEN 'sent' THEN 1 WHEN 'delivered' THEN 2 WHEN 'read' THEN 3 ELSE 0 END)]
        END,
        sent_at = coalesce(message.sent_at, CASE WHEN given.rank >= 1 THEN ${corrected(sql`given.sent_at`)} END),
        delivered_at = coalesce(message.delivered_at, CASE WHEN given.rank >= 2 THEN ${corrected(sql`given.delivered_at`)} END),
        read_at = coalesce(message.read_at, CASE WHEN given.rank >= 3 THEN ${corrected(sql`given.read_at`)} END),
        played_at = coalesce(message.played_at, CASE WHEN given.rank = 4 THEN ${corrected(sql`given.played_at`)} END),
        recipient_jid = coalesce(message.recipient_jid, given.recipient_jid),
        error_code = CASE WHEN given.rank = 0 THEN given.code END,
        error = CASE WHEN given.rank = 0 THEN given.sentence END,
        timeline = CASE WHEN given.rank = 0 THEN ${sql.unsafe(withEntry('message', 'failed'))} ELSE message.timeline END
      FROM given JOIN before ON before.id = given.id
      WHERE message.id = before.id AND message.created_at = before.created_at
        AND message.device_id = given.device_id AND message.direction = 'out'
        AND CASE
          WHEN given.rank = 0 THEN ${isAcceptedBy(sql, 'fail')}
          WHEN given.rank = 1 THEN ${isAcceptedBy(sql, 'acknowledge')}
          ELSE ${isAcceptedBy(sql, 'deliver')}
        END
      RETURNING message.id, message.account_id, message.device_id, message.sender,
        given.rank = 0 AS has_failed, message.error_code,
        message.sent_at, before.sent_at IS NULL AND message.sent_at IS NOT NULL AS is_sent,
        message.delivered_at, before.delivered_at IS NULL AND message.delivered_at IS NOT NULL AS is_delivered,
        message.read_at, before.read_at IS NULL AND message.read_at IS NOT NULL AS is_read,
        message.played_at, before.played_at IS NULL AND message.played_at IS NOT NULL AS is_played
    ),
    ${outcomeSteps(sql, 'recorded')}
    SELECT ARRAY(SELECT shard || ' ' || epoch FROM valid) AS leases, ARRAY(SELECT id FROM recorded) AS recorded`
  const validLeases = new Set(answer?.leases)
  const recorded = new Set(answer?.recorded)
  const others = outcomes.filter(
    ({ fence, messageId }) => validLeases.has(leaseKey(fence)) && !recorded.has(messageId),
  )
  return { validLeases, recorded, unknown: others.length > 0 ? await listUnknown(db, others) : [] }
}

async function listUnknown(db: Database, outcomes: MessageOutcome[]): Promise<MessageOutcome[]> {
  const sql = db.$client
  const known = await sql<{ id: string; deviceId: number }[]>`
    SELECT id, device_id AS "deviceId" FROM messages
    WHERE id = ANY (${outcomes.map(({ messageId }) => messageId)}::uuid[]) AND ${isCreatedAround(sql, outcomes.map(timeOf))}`
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

function timeOf({ messageId, createdAt }: MessageOutcome): number {
  return createdAt === undefined ? timeOfMessageId(messageId) : Date.parse(createdAt)
}

const ranks = { failed: 0, sent: 1, delivered: 2, read: 3, played: 4 } as const
