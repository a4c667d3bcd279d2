import type { Database } from '../../client.ts'
import { dueMessagesOfRow } from '../devices/due-messages.ts'
import { isLinkedIn } from '../devices/linked-device.ts'
import { numberedRows } from '../statements/rows.ts'
import { type WaitingMessage, waitingColumns } from './waiting-messages.ts'

export type NextRead = { deviceId: number; except: string[] }

/** Of each device. */
export const nextMessagesMax = 64

/** For each read the next messages of its device that are due, in their order, blocked ones included. In one statement. */
export async function listNextMessages(db: Database, reads: NextRead[]): Promise<WaitingMessage[][]> {
  const sql = db.$client
  const asked = numberedRows(sql, 'asked', reads, {
    device_id: ['int', ({ deviceId }) => deviceId],
    known: ['text', ({ except }) => `{${except.join()}}`],
  })
  const due = dueMessagesOfRow(sql, { where: sql`AND id <> ALL(read.known)`, limit: nextMessagesMax })
  const found = await sql<(WaitingMessage & { position: number })[]>`
    SELECT read.position::int AS position, message.* FROM (
      SELECT position, device_id, known::uuid[] AS known FROM ${asked} OFFSET 0
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
