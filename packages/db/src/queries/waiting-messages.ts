import type { MessageType } from '@wagate/shared/statuses'
import type { Database } from '../client.ts'
import { tokenHolderType } from './device-auth.ts'
import { dueMessages } from './due-messages.ts'
import { numberForms } from './number-forms.ts'

/** A message that waits for its device. `createdAt` is text as Postgres writes it: it identifies the partition. */
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
  /** How many owners in a row died or lost their lease while they had claimed it. */
  interruptions: number
}

/**
 * Why a message cannot be sent soon. `newContacts`: this device has neither written to the number nor received anything
 * from it, a privacy token included. `unprepared`: its media is not uploaded. `attempted`: it was sent before and not acknowledged.
 */
export type Hindrance = 'newContacts' | 'unprepared' | 'attempted'

export type WaitingQuery = {
  except: string[]
  exceptNumbers: string[]
  /** Leaves out these messages and those that wait behind them for the same number. */
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
  // The window function reads all waiting messages of the device, so it reads only their keys.
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

const contactDays = 30
/** WhatsApp accepts a privacy token for four weeks. */
const tokenDays = 28

/**
 * Numbers that the device has recently written to or received from, in both their forms, or whose privacy token it
 * holds. IS TRUE keeps the planner from turning this into a
 * join: Postgres hashes the contacts once and reads the messages in their order, up to the limit. With 110,000 waiting
 * messages and none for a contact, this takes 150 ms, and a join more than 6 s.
 */
const isContact = (db: Database, deviceId: number) => db.$client`
  AND (number IN (
    SELECT form FROM (
      SELECT DISTINCT number FROM messages
      WHERE device_id = ${deviceId} AND (sent_at IS NOT NULL OR direction = 'in')
        AND created_at BETWEEN now() - ${contactDays} * interval '1 day' AND now()
      UNION ALL
      SELECT id FROM device_auth
      WHERE device_id = ${deviceId} AND type = ${tokenHolderType} AND used_on > CURRENT_DATE - ${tokenDays}::int
    ) AS contact, LATERAL ${numberForms(db.$client, db.$client`contact.number`)} AS forms (form)
    WHERE form IS NOT NULL
  )) IS TRUE`

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
