import type postgres from 'postgres'
import { acceptedBy, type MessageMove } from '../../message-states.ts'

/** SQL: whether `message`, a row of messages, is in a state in which this move is not refused. */
export function isAcceptedBy(sql: postgres.Sql, move: MessageMove) {
  const { statuses, codes } = acceptedBy(move)
  return sql`(message.status = ANY (${statuses}) OR message.error_code = ANY (${codes}))`
}
