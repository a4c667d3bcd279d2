import { mediaTypes } from '@wagate/shared/message-kinds'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'
import { isToContact } from '../contacts/contacts.ts'
import { subscriber } from '../contacts/number-forms.ts'
import { dueMessages, dueMessagesOfRow, isRecent } from '../devices/due-messages.ts'
import { isLinkedIn } from '../devices/linked-device.ts'
import { numberedRows } from '../statements/rows.ts'
import { type SentContent, storedContent } from './message-content.ts'

/** A message that waits for its device. `createdAt` is text as Postgres writes it: it identifies the partition. */
export type WaitingMessage = SentContent & {
  id: string
  seq: number
  /** Its place in the list of priorities (priorities.ts). */
  priority: number
  createdAt: string
  waId: string
  number: string
  recipientJid: string | null
  /** For how long its recipient is shown that the sender is typing, before it leaves the first time. */
  typingSeconds: number
  uploadedContent: Buffer | null
  status: 'queued' | 'sending'
  /** How many owners in a row died or lost their lease while they had claimed it. */
  interruptions: number
  /** What the caller calls it, for logs. */
  reference: string | null
  /** For how long it could be neither prepared nor sent, for reasons of its own. */
  failingMs: number
  /** It was read by a query that leaves out new contacts. False says nothing. */
  isToContact: boolean
}

/**
 * Why a message cannot be sent soon. `newContacts`: this device has neither written to the number nor received anything
 * from it, a privacy token included, and the person has not written to the account before the link. `unprepared`: its
 * media is not uploaded. `attempted`: it was sent before and not acknowledged.
 */
export type BlockReason = 'newContacts' | 'unprepared' | 'attempted'

export type WaitingQuery = {
  /** As a place in the list of priorities. Without it, all. */
  priority?: number
  except: string[]
  exceptNumbers: string[]
  /** Leaves out these messages and those that wait behind them for the same number. */
  without: BlockReason[]
  /** Leaves out new contacts, except those that count towards the budget of the device already. */
  withinBudget?: boolean
  limit: number
  /** Leaves out those with a lower `seq`, except scheduled ones. Not together with `without`, which looks at all of a lane. */
  after?: number | undefined
}

/** The waiting messages of a device that are due, in their order. */
export async function listWaitingMessages(
  db: Database,
  deviceId: number,
  { priority, except, exceptNumbers, without, withinBudget = false, limit, after }: WaitingQuery,
): Promise<WaitingMessage[]> {
  const sql = db.$client
  const onlyContacts = without.includes('newContacts')
  // Not `<> ALL (list)`: planning would look at each item of the list for each week and index.
  const where = sql`
    AND number NOT IN (SELECT unnest(${exceptNumbers}::text[]))
    ${onlyContacts ? isToContact(sql, deviceId, 'known') : sql``}
    ${withinBudget && !onlyContacts ? isToContact(sql, deviceId, 'known or counted') : sql``}`
  const isOther = sql`AND id NOT IN (SELECT unnest(${except}::uuid[]))`
  const ofPriority = priority === undefined ? {} : { priority: sql`${priority}::int` }
  const blocks = without.flatMap((kind) => (kind === 'newContacts' ? [] : isBlocked[kind](db)))
  const [first, ...rest] = blocks
  if (!first) {
    return sql<WaitingMessage[]>`
      SELECT ${waitingColumns(sql)}, ${onlyContacts || withinBudget}::boolean AS "isToContact"
      FROM ${dueMessages(sql, deviceId, { ...ofPriority, where: sql`${where} ${isOther}`, limit, after })} AS due
      ORDER BY due.seq LIMIT ${limit}`
  }
  // The window function reads all waiting messages of the device, so it reads only their keys.
  return sql<WaitingMessage[]>`
    SELECT ${waitingColumns(sql)}, ${onlyContacts || withinBudget}::boolean AS "isToContact" FROM messages JOIN (
      SELECT id, created_at FROM (
        SELECT id, created_at, seq, bool_or(${rest.reduce((all, other) => sql`${all} OR ${other}`, first)})
          OVER (PARTITION BY ${subscriber(sql, 'number')} COLLATE "C" ORDER BY seq) AS is_behind
        FROM ${dueMessages(sql, deviceId, { ...ofPriority, where })} AS due
      ) AS lane
      WHERE NOT is_behind ${isOther}
      ORDER BY seq LIMIT ${limit}
    ) AS found USING (id, created_at)
    ORDER BY messages.seq`
}

/** SQL: the columns of a `WaitingMessage` except `isToContact`. */
const waitingColumns = (sql: postgres.Sql) => sql`
  id, seq::float8 AS seq, priority, created_at::text AS "createdAt", wa_id AS "waId", number, recipient_jid AS "recipientJid",
  ${sql.unsafe(storedContent)}, uploaded_content AS "uploadedContent", status, interruptions,
  coalesce(typing_seconds, 0) AS "typingSeconds", reference,
  coalesce(extract(epoch FROM now() - failing_since) * 1000, 0)::float8 AS "failingMs"`

const isBlocked = {
  unprepared: (db: Database) => db.$client`(type = ANY(${mediaTypes}) AND uploaded_content IS NULL)`,
  attempted: (db: Database) => db.$client`status = 'sending'`,
}

/** The `seq` of the latest message of the device that waits with this priority, except scheduled ones. */
export async function findLastWaiting(
  db: Database,
  deviceId: number,
  priority: number,
): Promise<number | undefined> {
  const sql = db.$client
  const [last] = await sql<{ seq: number }[]>`
    SELECT seq::float8 AS seq FROM messages
    WHERE device_id = ${deviceId} AND is_waiting AND send_at IS NULL AND ${isRecent(sql)}
      AND priority BETWEEN ${priority}::int AND ${priority}::int
    ORDER BY messages.priority DESC, messages.seq DESC LIMIT 1`
  return last?.seq
}

/** Includes scheduled messages. Counts no further than `countMax`. */
export async function countWaitingMessages(
  db: Database,
  deviceId: number,
  countMax: number,
): Promise<number> {
  const [row] = await db.$client<{ waiting: number }[]>`
    SELECT count(*)::int AS waiting FROM (
      (SELECT FROM messages WHERE device_id = ${deviceId} AND is_waiting AND send_at IS NULL LIMIT ${countMax})
      UNION ALL
      (SELECT FROM messages WHERE device_id = ${deviceId} AND is_waiting AND send_at IS NOT NULL LIMIT ${countMax})
      LIMIT ${countMax}
    ) AS waiting`
  return row?.waiting ?? 0
}

export type NextRead = { deviceId: number; priority: number; except: string[] }

/** Of each device and priority. */
export const nextMessagesMax = 64

/**
 * For each read the next messages of its device and priority that are due, in their order, blocked ones included. In one
 * statement.
 */
export async function listNextMessages(db: Database, reads: NextRead[]): Promise<WaitingMessage[][]> {
  const sql = db.$client
  const asked = numberedRows(sql, 'asked', reads, {
    device_id: ['int', ({ deviceId }) => deviceId],
    priority: ['int', ({ priority }) => priority],
    known: ['text', ({ except }) => `{${except.join()}}`],
  })
  const due = dueMessagesOfRow(sql, {
    priority: sql`read.priority`,
    where: sql`AND id <> ALL(read.known)`,
    limit: nextMessagesMax,
  })
  const found = await sql<(WaitingMessage & { position: number })[]>`
    SELECT read.position::int AS position, message.* FROM (
      SELECT position, device_id, priority, known::uuid[] AS known FROM ${asked} OFFSET 0
    ) AS read
    JOIN devices AS device ON device.id = read.device_id AND ${isLinkedIn(sql, 'device')}
    CROSS JOIN LATERAL (
      SELECT ${waitingColumns(sql)}, false AS "isToContact" FROM ${due} AS due
      ORDER BY due.seq LIMIT ${nextMessagesMax}
    ) AS message
    ORDER BY message.seq`
  const lists: WaitingMessage[][] = reads.map(() => [])
  for (const { position, ...message } of found) lists[position - 1]?.push(message)
  return lists
}
