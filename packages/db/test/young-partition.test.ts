import { firstPosition } from '@wagate/shared/event-ids'
import { makeMessageId } from '@wagate/shared/ids'
import { normalPriority } from '@wagate/shared/priorities'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { listEvents } from '../src/queries/events/event-feed.ts'
import { cancelMessage } from '../src/queries/messages/cancel-message.ts'
import { listMessages } from '../src/queries/messages/history-pages.ts'
import { type MessageChange, recordMessageChanges } from '../src/queries/messages/message-changes.ts'
import { claimFirstMessages, claimMessages } from '../src/queries/messages/message-claims.ts'
import { findSentContent } from '../src/queries/messages/message-content.ts'
import { findHistoryPosition, findMessage } from '../src/queries/messages/message-history.ts'
import { recordOutcomes } from '../src/queries/messages/message-outcomes.ts'
import { findMessagesProgress } from '../src/queries/messages/message-progress.ts'
import { findTimedMessage } from '../src/queries/messages/message-timeline.ts'
import { findQuotable } from '../src/queries/messages/quotable-message.ts'
import { requestRead } from '../src/queries/messages/read-requests.ts'
import {
  insertReceivedMessages,
  isReceived,
  type ReceivedMessage,
} from '../src/queries/messages/received-messages.ts'
import { listNextMessages } from '../src/queries/messages/waiting-messages.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'
import { countIndexPages, countReads } from './table-reads.ts'

const stored = 4000
let db: Database
let accountId: number
let drop: () => Promise<void>
let device: OwnedDevice

beforeAll(async () => {
  // One connection, which has all prepared statements. The partitions of a gateway, for which Postgres plans.
  const database = await openOwnedDevices({ poolSize: 1, isWeekly: true })
  ;({ db, accountId, drop } = database)
  device = await database.addLinkedDevice()
  latest = { sent: makeMessageId('1'), received: makeMessageId('1') }
  await stopAutovacuum()
  // Postgres keeps these plans until it has counted the rows again.
  for (const run of Object.values({ ...statements, ...searches })) await countReads(db, run)
  latest.received = lastOf(await insert(stored, { direction: 'in', status: 'received' }))
  latest.sent = lastOf(await insert(stored, { direction: 'out', status: 'delivered' }))
  await recordMessageChanges(db, Array.from({ length: stored }, reaction))
})
afterAll(() => drop())

/**
 * It counts the rows, and the pages that it reads itself are counted with those of the searches. Of all tables: when it has
 * counted the rows of one, Postgres makes new plans for all statements that use it.
 */
async function stopAutovacuum(): Promise<void> {
  const tables = await db.$client<{ name: string }[]>`
    SELECT oid::regclass::text AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'messages'::regclass)`
  for (const { name } of tables) {
    await db.$client.unsafe(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`)
  }
}

type Row = { id: string; createdAt: string }

/** Each row has a different time: Postgres finds a row among those of one time with a single search of an index. */
async function insert(
  count: number,
  { direction, status }: { direction: string; status: string },
): Promise<Row[]> {
  const ids = Array.from({ length: count }, () => makeMessageId('1'))
  return db.$client<Row[]>`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
      link_generation, created_at)
    SELECT id, ${accountId}, ${device.deviceId}, ${direction}, 'text', '1', '3', 'x', ${status}, id, 1,
      now() - n * interval '1 ms'
    FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS given (id, n)
    RETURNING id, created_at::text AS "createdAt"`
}

const lastOf = (rows: Row[]) => rows.at(-1)?.id ?? ''

let stanzas = 0
const received = (about: Partial<ReceivedMessage>): ReceivedMessage => ({
  ...device,
  accountId,
  id: makeMessageId('1'),
  sender: '1',
  number: '2',
  type: 'text',
  body: 'x',
  waId: `stanza ${stanzas++}`,
  linkGeneration: 1,
  ...about,
})
const reaction = (): MessageChange => ({
  ...device,
  accountId,
  sender: '1',
  number: '2',
  waId: `stanza ${stanzas++}`,
  kind: 'reaction',
  target: 'stanza 1',
  fromMe: false,
  text: '+',
})

async function send(claim: typeof claimMessages): Promise<void> {
  const [message] = await insert(1, { direction: 'out', status: 'queued' })
  if (!message) throw new Error('Not inserted')
  await listNextMessages(db, [{ deviceId: device.deviceId, priority: normalPriority, except: [] }])
  await claim(db, [{ ...message, fence: device.fence, recipientJid: 'jid', setback: null }])
  const outcome = { ...device, messageId: message.id, at: new Date().toISOString() }
  await recordOutcomes(db, [{ ...outcome, status: 'sent' }])
  await recordOutcomes(db, [{ ...outcome, status: 'delivered' }])
}

/** The newest message of each direction: callers mostly ask for recent ones. */
let latest: { sent: string; received: string }

const quoted = { waId: 'stanza 1', from_me: false, type: 'text', text: 'x' } as const
const statements: Record<string, () => Promise<unknown>> = {
  'a received message': () => insertReceivedMessages(db, [received({})]),
  'a received message without a number': () =>
    insertReceivedMessages(db, [received({ number: null, contactJid: '5@lid' })]),
  'a received reply': () => insertReceivedMessages(db, [received({ quoted })]),
  'the search for a received message': () =>
    isReceived(db, device.deviceId, { waId: 'stanza 1', number: '2' }),
  'a received reaction': () => recordMessageChanges(db, [reaction()]),
  'a sent message': () => send(claimMessages),
  'a message sent to a new contact': () => send(claimFirstMessages),
}

/** For single messages. Postgres does not count index entries that it skips, so these tests count pages. */
const searches: Record<string, () => Promise<unknown>> = {
  'a page of events': () => listEvents(db, accountId, { after: firstPosition, limit: 2 }),
  'a message by its id': () => findMessage(db, accountId, latest.sent),
  'the timeline of a message': () => findTimedMessage(db, accountId, { message_id: latest.sent }),
  'the place of a message in the history': () => findHistoryPosition(db, accountId, latest.sent),
  'the progress of a message': () => findMessagesProgress(db, [{ accountId, messageId: latest.sent }]),
  'canceling a message': () => cancelMessage(db, accountId, latest.sent),
  'the search for a quoted message': () =>
    findQuotable(db, accountId, { sender: '1', contact: { key: '3', lidJid: null }, id: latest.sent }),
  'marking a message as read': () => requestRead(db, accountId, latest.received),
  'the content of a message that is requested again': () =>
    findSentContent(db, device.deviceId, latest.sent, ['jid']),
}

const byReference: Record<string, () => Promise<unknown>> = {
  'the newest message with a reference': () => findTimedMessage(db, accountId, { reference: 'order 1' }),
  'the messages with a reference': () => listMessages(db, accountId, { reference: 'order 1', limit: 200 }),
  'the messages with a reference and a status': () =>
    listMessages(db, accountId, { reference: 'order 1', status: 'sent', limit: 200 }),
}

test.each(Object.entries(statements))('%s reads little in a week that has just begun', async (_, run) => {
  expect(await countReads(db, run)).toBeLessThan(100)
  expect(await countReads(db, run, { table: 'events', isScanCounted: true })).toBeLessThan(100)
})

test.each(Object.entries(searches))(
  '%s reads few index pages in a week that has just begun',
  async (_, run) => {
    expect(await countIndexPages(db, run)).toBeLessThan(20)
  },
)

/** These are planned each time, which reads pages of its own. */
test.each(Object.entries(byReference))('%s reads no others in a week that has just begun', async (_, run) => {
  expect(await countReads(db, run)).toBeLessThan(10)
})
