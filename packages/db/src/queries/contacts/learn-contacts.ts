import { subscriberOf } from '@wagate/shared/phone'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { type Fence, fencesOf, leaseColumns, lostWrites, type OwnershipLost } from '../statements/fence.ts'
import { numberedRows } from '../statements/rows.ts'
import { joinedConsents } from './joined-consents.ts'
import { numberForms } from './number-forms.ts'

/** What WhatsApp tells a device of a contact. */
export type LearntContact = {
  fence: Fence
  deviceId: number
  lidJid: string
  /** Null when it does not tell it, which is no news. */
  number: string | null
  username?: string | null
}

/** How many messages of one contact move to its number at once: waiting ones first, then the newest. */
const movedMax = 1000

/**
 * Stores what was learnt in fenced statements. What was stored under a LID moves to the number that was learnt: messages and
 * contacts that count towards a budget. Opt-outs stay, and count for both from then on. Returns an error for each whose owner
 * had lost its shard; it was not stored.
 */
export async function learnContacts(
  db: Database,
  learnt: LearntContact[],
): Promise<(OwnershipLost | undefined)[]> {
  const results = new Map<LearntContact, OwnershipLost | undefined>()
  for (const part of inRounds(learnt)) {
    const lost = await learnAtOnce(db, part)
    part.forEach((one, index) => {
      results.set(one, lost[index])
    })
  }
  return learnt.map((one) => results.get(one))
}

/**
 * In their order, and each LID with one number and each number with one LID at a time: what is learnt later is right, and
 * what was true before it counts for opt-outs.
 */
function inRounds(learnt: LearntContact[]): LearntContact[][] {
  const rounds: LearntContact[][] = []
  let news = new Map<string, LearntContact>()
  for (const one of learnt) {
    const keys = keysOf(one)
    if (!keys.every((key) => isSameNews(news.get(key) ?? one, one))) news = new Map()
    if (news.size === 0) rounds.push([])
    rounds.at(-1)?.push(one)
    for (const key of keys) news.set(key, one)
  }
  return rounds
}

const keysOf = ({ lidJid, number }: LearntContact) =>
  number === null ? [lidJid] : [lidJid, subscriberOf(number)]

function isSameNews(one: LearntContact, other: LearntContact): boolean {
  return (
    one.lidJid === other.lidJid &&
    one.number === other.number &&
    (one.username ?? null) === (other.username ?? null)
  )
}

async function learnAtOnce(db: Database, learnt: LearntContact[]): Promise<(OwnershipLost | undefined)[]> {
  const sql = db.$client
  const given = numberedRows(sql, 'given', learnt, {
    ...leaseColumns,
    device_id: ['int', ({ deviceId }) => deviceId],
    lid_jid: ['text', ({ lidJid }) => lidJid],
    number: ['text', ({ number }) => number],
    username: ['text', ({ username }) => username ?? null],
  })
  const valid = await sql<{ lease: string }[]>`
    WITH valid AS (${fencesOf(
      sql,
      learnt.map(({ fence }) => fence),
    )}),
    learnt AS MATERIALIZED (
      SELECT DISTINCT device.account_id, given.lid_jid, given.number, given.username
      FROM valid JOIN ${given} USING (shard, epoch) JOIN devices AS device ON device.id = given.device_id
      -- In one order everywhere: statements that lock rows in different orders could deadlock.
      ORDER BY account_id, lid_jid
    ),
    stored AS (
      INSERT INTO contacts AS known (account_id, lid_jid, number, username)
      SELECT * FROM learnt
      ON CONFLICT ON CONSTRAINT contacts_pk DO UPDATE SET
        number = coalesce(excluded.number, known.number), username = coalesce(excluded.username, known.username),
        seen_on = CURRENT_DATE
      WHERE (coalesce(excluded.number, known.number), coalesce(excluded.username, known.username), known.seen_on)
        IS DISTINCT FROM (known.number, known.username, CURRENT_DATE)
    ),
    pairs AS MATERIALIZED (SELECT account_id, lid_jid, number FROM learnt WHERE number IS NOT NULL),
    -- What the account took for pairs until now.
    broken AS MATERIALIZED (
      SELECT known.account_id, known.lid_jid, known.number
      FROM pairs JOIN contacts AS known USING (account_id, lid_jid)
      WHERE known.number NOT IN (
        SELECT form FROM ${numberForms(sql, 'pairs.number')} AS forms (form) WHERE form IS NOT NULL)
      UNION
      SELECT known.account_id, known.lid_jid, known.number
      FROM pairs CROSS JOIN LATERAL ${numberForms(sql, 'pairs.number')} AS forms (form)
      JOIN contacts AS known ON known.account_id = pairs.account_id AND known.number = form
      WHERE known.lid_jid <> pairs.lid_jid
    ),
    -- A number belongs to one person at a time.
    former AS (
      UPDATE contacts AS former SET number = NULL FROM broken
      WHERE former.account_id = broken.account_id AND former.lid_jid = broken.lid_jid
        AND (former.account_id, former.lid_jid) NOT IN (SELECT account_id, lid_jid FROM pairs)
    ),
    ${movedToNumber(sql)},
    ${joinedConsents(sql)}
    SELECT shard || ' ' || epoch AS lease FROM valid`
  return lostWrites(
    learnt,
    valid.map(({ lease }) => lease),
  )
}

/** SQL: steps that move what is stored under the LIDs of `pairs` to their numbers. */
const movedToNumber = (sql: postgres.Sql) => sql`
  -- Nothing is stored under a LID that had no row.
  known_pairs AS MATERIALIZED (SELECT pairs.* FROM pairs JOIN contacts USING (account_id, lid_jid)),
  -- Locked in the order in which outcomes lock them: a contact who reads several messages and writes does both.
  locked AS MATERIALIZED (
    SELECT message.id, message.created_at, found.number
    FROM known_pairs AS pairs CROSS JOIN LATERAL (
      SELECT id, created_at, pairs.number FROM messages
      WHERE messages.account_id = pairs.account_id AND messages.number = pairs.lid_jid
      ORDER BY is_waiting DESC, created_at DESC LIMIT ${movedMax}
    ) AS found
    JOIN messages AS message ON message.id = found.id AND message.created_at = found.created_at
    ORDER BY message.id FOR NO KEY UPDATE OF message
  ),
  moved_messages AS (
    UPDATE messages AS message SET number = locked.number FROM locked
    WHERE message.id = locked.id AND message.created_at = locked.created_at
  ),
  moved_new_contacts AS (
    DELETE FROM new_contacts USING known_pairs AS pairs, devices AS device
    WHERE device.account_id = pairs.account_id AND new_contacts.device_id = device.id
      AND new_contacts.number = pairs.lid_jid
    RETURNING device_id, pairs.number, new_contacts.created_at
  ),
  counted AS (
    INSERT INTO new_contacts AS known (device_id, number, created_at)
    SELECT device_id, (SELECT min(form) FROM ${numberForms(sql, 'moved.number')} AS forms (form)), max(created_at)
    FROM moved_new_contacts AS moved GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT ON CONSTRAINT new_contacts_pk DO UPDATE SET created_at = greatest(known.created_at, excluded.created_at)
  )`
