import { makeMessageId } from '@wagate/shared/ids'
import { type MessageType, messageTypes } from '@wagate/shared/message-kinds'
import type { MessageStatus } from '@wagate/shared/statuses'
import fc from 'fast-check'
import type { Database } from '../src/client.ts'
import type { HistoryFilter } from '../src/queries/messages/history-filter.ts'

/** A message as the model knows it. `at`: ms since 1970. */
export type ModelMessage = {
  id: string
  at: number
  sender: string
  number: string
  lid: string | null
  direction: 'in' | 'out'
  type: MessageType
  status: MessageStatus
  sendAt: number | null
  reference: string | null
}

const senders = ['4915100000001', '5215512345678', '525512345678'] as const
const numbers = ['4915200000001', '5511987654321', '551187654321'] as const
const references = ['order 1', 'ORDER 1'] as const
const lids = ['1000000000000001', '1000000000000002'] as const
const outgoing = [
  'queued',
  'scheduled',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'canceled',
] as const
const dayMs = 86_400_000

/** Ages in whole seconds, so that some messages have the same time. */
const age = fc.integer({ min: 20, max: 600 }).map((seconds) => seconds * 1000)
const ageOverPartitions = fc.oneof(
  age,
  age.map((ms) => ms + 7 * dayMs),
)

export const messagesArbitrary = fc.array(
  fc.record({
    ageMs: ageOverPartitions,
    sender: fc.constantFrom(...senders),
    number: fc.constantFrom(...numbers),
    lid: fc.option(fc.constantFrom(...lids)),
    reference: fc.option(fc.constantFrom(...references)),
    type: fc.constantFrom(...messageTypes),
    status: fc.oneof(fc.constantFrom(...outgoing), fc.constant('received' as const)),
  }),
  { minLength: 1, maxLength: 60 },
)

type GivenMessage = typeof messagesArbitrary extends fc.Arbitrary<(infer Given)[]> ? Given : never

/** Each filter is there in one of three cases. `from` and `to` are ages. */
export const filterArbitrary = fc
  .record({
    sender: rarely(fc.constantFrom(...senders)),
    number: rarely(fc.constantFrom(...numbers)),
    lid: rarely(fc.constantFrom(...lids)),
    direction: rarely(fc.constantFrom('in' as const, 'out' as const)),
    type: rarely(fc.constantFrom(...messageTypes)),
    status: rarely(fc.constantFrom(...outgoing, 'received' as const)),
    reference: rarely(fc.constantFrom(...references)),
    from: rarely(ageOverPartitions),
    to: rarely(ageOverPartitions),
  })
  .map((given) => (nowMs: number): HistoryFilter => {
    const at = (ageMs: number | undefined) => (ageMs === undefined ? undefined : new Date(nowMs - ageMs))
    return { ...given, from: at(given.from), to: at(given.to) }
  })

function rarely<T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(values, { nil: undefined, freq: 3 })
}

export async function insertModel(
  db: Database,
  accountId: number,
  given: GivenMessage[],
  nowMs: number,
): Promise<ModelMessage[]> {
  const messages = given.map(({ ageMs, status, ...rest }): ModelMessage => {
    const at = nowMs - ageMs
    const sendAt = status === 'scheduled' ? nowMs + dayMs : null
    const direction = status === 'received' ? 'in' : 'out'
    return { id: makeMessageId(rest.sender, at), at, direction, status, sendAt, ...rest }
  })
  await db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, recipient_jid, status, error_code,
      wa_id, link_generation, created_at, send_at, reference)
    SELECT (row->>'id')::uuid, ${accountId}::int, 1, row->>'direction', row->>'type', row->>'sender', row->>'number',
      row->>'lid' || '@lid', CASE row->>'status' WHEN 'scheduled' THEN 'queued' ELSE row->>'status' END,
      CASE row->>'status' WHEN 'failed' THEN 'message_expired' END, 'X', 1,
      to_timestamp((row->>'at')::float8 / 1000), to_timestamp((row->>'sendAt')::float8 / 1000),
      row->>'reference'
    FROM jsonb_array_elements(${JSON.stringify(messages)}::text::jsonb) AS row`
  return messages
}

/** The second and third of both are one subscriber. */
const isAsked = (asked: unknown, value: unknown) =>
  asked === undefined ||
  asked === value ||
  [senders, numbers].some(([, ...forms]) => [asked, value].every((one) => (forms as unknown[]).includes(one)))

/** The ids of the messages that pass the filter, newest first. */
export function selectFromModel(messages: ModelMessage[], filter: HistoryFilter): string[] {
  const { from, to, contactKey: _, ...fields } = filter
  const names = Object.keys(fields) as (keyof typeof fields)[]
  return messages
    .filter((message) => names.every((name) => isAsked(fields[name], message[name])))
    .filter(({ at }) => (!from || at >= from.getTime()) && (!to || at < to.getTime()))
    .sort((one, other) => other.at - one.at || (other.id < one.id ? -1 : 1))
    .map(({ id }) => id)
}
