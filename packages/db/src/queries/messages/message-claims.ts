import { entryBytes, timelineMarks } from '@wagate/shared/timeline-marks'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { isKnownOrCounted } from '../contacts/contacts.ts'
import { numberForms } from '../contacts/number-forms.ts'
import { isOptedOut } from '../contacts/opt-outs.ts'
import { type AuthWrite, authWriteSteps } from '../credentials/device-auth.ts'
import { isLinkedIn } from '../devices/linked-device.ts'
import { isPaused } from '../devices/sender-pause.ts'
import { type Fence, fencesOf, leaseColumns, lostWrites, type OwnershipLost } from '../statements/fence.ts'
import { rows } from '../statements/rows.ts'
import { withEntry } from './timeline-entries.ts'

export type Claim = {
  fence: Fence
  id: string
  createdAt: string
  /** Null for media that are prepared first: they can still be canceled. */
  recipientJid: string | null
  /** Why it could not be sent the last time. Null leaves what is stored. */
  setback: string | null
}

/** `interruptions`: how many earlier owners died with a claim on it. `isOptedOut`: it must not be sent. */
export type Claimed = { interruptions: number; isOptedOut: boolean }

/**
 * Claims messages for their owner, and marks them as `sending` right before they are sent. Undefined for a message that was
 * canceled, that has expired, whose sender is paused, that was accepted for another link of its device, or whose shard has another owner.
 */
export async function claimMessages(db: Database, claims: Claim[]): Promise<(Claimed | undefined)[]> {
  const sql = db.$client
  const marked = await sql<Marked[]>`
    WITH valid AS (${fencesOf(sql, claims.map(fenceIn))})
    ${mark(sql, claims)}`
  return inOrder(claims, marked)
}

/** `claimMessages` and `storeAuthWrites` in one statement. Either happens without the other where it is possible. */
export async function claimWithAuthWrites(
  db: Database,
  claims: Claim[],
  writes: AuthWrite[],
): Promise<{ claimed: (Claimed | undefined)[]; lost: (OwnershipLost | undefined)[] }> {
  const sql = db.$client
  const [answer] = await sql<{ leases: string[]; marked: Marked[] }[]>`
    WITH valid AS (${fencesOf(sql, [...writes, ...claims].map(fenceIn))}),
    ${authWriteSteps(sql, writes)},
    marked AS (${mark(sql, claims)})
    SELECT ARRAY(SELECT shard || ' ' || epoch FROM valid) AS leases,
      (SELECT coalesce(json_agg(json_build_object(
        'id', id, 'interruptions', interruptions, 'isOptedOut', "isOptedOut")), '[]') FROM marked) AS marked`
  return { claimed: inOrder(claims, answer?.marked ?? []), lost: lostWrites(writes, answer?.leases ?? []) }
}

/**
 * `countedToday`: the number under which the recipient counts as a new contact of the UTC day `day`, if it does. The clock
 * is that of Postgres.
 */
export type FirstClaim = Claimed & { countedToday: string | null; day: number }

/**
 * As `claimMessages`, and counts each recipient that is a new contact, once, in the same statement. Repeated after a lost
 * answer, it counts nothing twice and returns the same.
 */
export async function claimFirstMessages(db: Database, claims: Claim[]): Promise<(FirstClaim | undefined)[]> {
  const sql = db.$client
  const forms = sql`${numberForms(sql, 'marked.number')} AS forms (form)`
  const marked = await sql<(FirstClaim & { id: string })[]>`
    WITH valid AS (${fencesOf(sql, claims.map(fenceIn))}),
    marked AS (${mark(sql, claims)}),
    counted AS (
      INSERT INTO new_contacts (device_id, number)
      SELECT DISTINCT device_id, (SELECT min(form) FROM ${forms}) FROM marked
      WHERE NOT ${isKnownOrCounted(sql, 'marked')} AND NOT "isOptedOut"
      ON CONFLICT ON CONSTRAINT new_contacts_pk DO UPDATE SET created_at = now()
      RETURNING device_id, number
    )
    SELECT marked.id, marked.interruptions, marked."isOptedOut", coalesce(
      (SELECT number FROM counted WHERE device_id = marked.device_id AND number IN (SELECT form FROM ${forms})),
      (SELECT number FROM new_contacts
        WHERE device_id = marked.device_id AND number IN (SELECT form FROM ${forms})
          AND created_at >= date_trunc('day', now(), 'UTC') LIMIT 1)
    ) AS "countedToday", floor(extract(epoch FROM now()) / 86400)::int AS day
    FROM marked`
  const found = new Map(marked.map(({ id, ...claim }) => [id, claim]))
  return claims.map(({ id }) => found.get(id))
}

/** Its owner has claimed it for this attempt already: nothing has become of the claim, or its answer was lost. */
const isRepeated = `message.status = 'sending' AND message.held_epoch = valid.epoch AND octet_length(message.timeline) > 0
  AND get_byte(message.timeline, octet_length(message.timeline) - ${entryBytes})
    IN (${timelineMarks.sending}, ${timelineMarks.sendingAfterTakeover})`

/** The attempt of the owner before has no result. */
const claimMark = `CASE WHEN message.status = 'sending' AND message.held_epoch <> valid.epoch
  THEN ${timelineMarks.sendingAfterTakeover} ELSE ${timelineMarks.sending} END`

type Marked = Claimed & { id: string }

/** SQL: claims the messages whose leases are in `valid`. */
function mark(sql: postgres.Sql, claims: Claim[]) {
  const isNoAttempt = sql.unsafe(`given.recipient_jid IS NULL OR (${isRepeated}) IS TRUE`)
  return sql`
    UPDATE messages AS message SET
      status = CASE WHEN given.recipient_jid IS NULL THEN message.status ELSE 'sending' END,
      recipient_jid = coalesce(given.recipient_jid, message.recipient_jid),
      held_epoch = valid.epoch,
      interruptions = message.interruptions + ((message.held_epoch = ANY(valid.died_epochs)) IS TRUE)::int,
      setback = coalesce(given.setback, message.setback),
      attempts = CASE WHEN ${isNoAttempt} THEN message.attempts
        ELSE least(message.attempts::int + 1, 32767) END,
      timeline = CASE WHEN ${isNoAttempt} THEN message.timeline
        ELSE ${sql.unsafe(withEntry('message', { sql: claimMark }))} END
    FROM valid JOIN ${rows(sql, 'given', claims, {
      ...leaseColumns,
      id: ['uuid', ({ id }) => id],
      created_at: ['text', ({ createdAt }) => createdAt],
      recipient_jid: ['text', ({ recipientJid }) => recipientJid],
      setback: ['text', ({ setback }) => setback],
    })} USING (shard, epoch), devices AS device
    WHERE message.id = given.id AND message.created_at = given.created_at::timestamptz
      AND device.id = message.device_id AND device.link_generation = message.link_generation
      AND ${isLinkedIn(sql, 'device')} AND message.is_waiting
      -- Once it is claimed it may have left, so it no longer expires.
      AND (message.status = 'sending' OR message.expires_at IS NULL OR message.expires_at > now())
      -- Its owner may not know of the pause yet.
      AND NOT ${isPaused(sql, 'device')}
    RETURNING message.id, message.interruptions, ${isOptedOut(sql)} AS "isOptedOut", message.device_id, message.account_id, message.number`
}

function inOrder(claims: Claim[], marked: Marked[]): (Claimed | undefined)[] {
  const found = new Map(
    marked.map(({ id, interruptions, isOptedOut }) => [id, { interruptions, isOptedOut }]),
  )
  return claims.map(({ id }) => found.get(id))
}

const fenceIn = ({ fence }: { fence: Fence }) => fence

/**
 * Undoes claims after the messages were handled without a death: if their owner dies from now on, they were not the
 * cause, and neither were they of earlier deaths.
 */
export async function releaseMessages(
  db: Database,
  claimed: { fence: Fence; id: string; createdAt: string }[],
): Promise<void> {
  const sql = db.$client
  await sql`
    WITH valid AS (${fencesOf(sql, claimed.map(fenceIn))})
    UPDATE messages AS message SET held_epoch = NULL, interruptions = 0
    FROM valid JOIN ${rows(sql, 'given', claimed, {
      ...leaseColumns,
      id: ['uuid', ({ id }) => id],
      created_at: ['text', ({ createdAt }) => createdAt],
    })} USING (shard, epoch)
    WHERE message.id = given.id AND message.created_at = given.created_at::timestamptz
      AND message.held_epoch = valid.epoch`
}
