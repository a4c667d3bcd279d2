import { type EventType, eventTypes } from '@wagate/shared/event-types'

/** The columns of `message_counts`, and the event that each counts. */
const countedTypes = {
  sent: 'message.sent',
  delivered: 'message.delivered',
  read: 'message.read',
  failed: 'message.failed',
  received: 'message.received',
} as const satisfies Record<string, EventType>

export type CountedType = (typeof countedTypes)[keyof typeof countedTypes]

/** In the order of the primary key, as all rows are locked: statements that lock in different orders could deadlock. */
const key = ['day', 'account_id', 'sender', 'error_code']
const columns = Object.entries(countedTypes).map(([name, type]) => ({ name, type: eventTypes[type] }))
const names = columns.map(({ name }) => name)

/**
 * SQL text: adds what has `happened` (event-rows.ts) to the counts of the UTC days on which it did, each row once. `announced`: the step
 * that records the events. It comes first, as everything does that may wait for another statement: those that wait for a count hold
 * no other lock that is still to be taken.
 */
export function countMessages(happened: string, announced: string): string {
  return `
    INSERT INTO message_counts AS total (${[...key, ...names].join(', ')})
    SELECT (least(at, now()) AT TIME ZONE 'UTC')::date AS day, account_id, sender, coalesce(error_code, '') AS error_code,
      ${columns.map(({ type }) => `count(*) FILTER (WHERE type = ${type})`).join(', ')}
    FROM ${happened}
    WHERE is_counted AND type IN (${columns.map(({ type }) => type).join(', ')})
      AND (SELECT count(*) FROM ${announced}) > 0
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT ON CONSTRAINT message_counts_pk DO UPDATE SET
      ${names.map((name) => `${name} = total.${name} + excluded.${name}`).join(', ')}`
}
