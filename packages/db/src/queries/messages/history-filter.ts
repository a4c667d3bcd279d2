import { lidKey } from '@wagate/shared/contact-key'
import type { MessageType } from '@wagate/shared/message-kinds'
import { phoneForms } from '@wagate/shared/phone'
import type { MessageStatus } from '@wagate/shared/statuses'
import { and, eq, inArray, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import { messages } from '../../schema/messages.ts'
import { isScheduled } from '../devices/reported-status.ts'

export type HistoryFilter = {
  sender?: string | undefined
  /** The phone number of the other party. */
  number?: string | undefined
  /** Its LID, in digits. */
  lid?: string | undefined
  /** With a LID: the key of its contact (contact-key.ts). */
  contactKey?: string | undefined
  direction?: 'in' | 'out' | undefined
  type?: MessageType | undefined
  status?: MessageStatus | undefined
  reference?: string | undefined
  /** Of the creation: not before. */
  from?: Date | undefined
  /** Of the creation: before. */
  to?: Date | undefined
}

/**
 * `indexed`: what messages_reference, messages_number, messages_failed, messages_incoming, messages_sender or messages_history answers, in the
 * order of the pages. `others`: what has to be compared with each row.
 */
type Conditions = { indexed: SQL[]; others: SQL[] }

export function conditionsOf(filter: HistoryFilter): Conditions {
  const { sender, number, lid, contactKey, direction, type, status, reference, from, to } = filter
  const isIncoming = direction === 'in' || status === 'received'
  const [first, ...rest] = given(
    reference !== undefined && eq(messages.reference, reference),
    number !== undefined && isOneOf(messages.number, number),
    status === 'failed' && isNotNull(messages.errorCode),
    // Written out: with a parameter, Postgres could not tell that the partial index has all these rows.
    isIncoming && sql`${messages.direction} = 'in'`,
    sender !== undefined && isOneOf(messages.sender, sender),
  )
  return {
    indexed: given(
      first,
      from !== undefined && sql`${messages.createdAt} >= ${from.toISOString()}::timestamptz`,
      to !== undefined && sql`${messages.createdAt} < ${to.toISOString()}::timestamptz`,
    ),
    others: given(
      ...rest,
      direction === 'out' && eq(messages.direction, direction),
      type !== undefined && eq(messages.type, type),
      lid !== undefined && isOfLid(lid, contactKey ?? lidKey(lid)),
      status !== undefined && hasStatus(status),
    ),
  }
}

function given(...conditions: (SQL | false | undefined)[]): SQL[] {
  return conditions.filter((condition) => condition instanceof Object)
}

/** Most numbers have one form, for which the index has the rows in their order. */
function isOneOf(column: typeof messages.number | typeof messages.sender, number: string): SQL {
  const forms = phoneForms(number)
  return forms.length === 1 ? eq(column, number) : inArray(column, forms)
}

/** It may have been written to by its number, or have written before its number was known. */
function isOfLid(lid: string, key: string): SQL | undefined {
  return or(eq(messages.recipientJid, lidKey(lid)), isOneOf(messages.number, key))
}

function hasStatus(status: MessageStatus): SQL | undefined {
  const isForLater = sql.raw(isScheduled('messages'))
  if (status === 'scheduled') return and(eq(messages.status, 'queued'), isForLater)
  if (status === 'queued') return and(eq(messages.status, 'queued'), sql`NOT ${isForLater}`)
  return eq(messages.status, status)
}
