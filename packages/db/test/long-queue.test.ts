import { makeMessageId } from '@wagate/shared/ids'
import { normalPriority } from '@wagate/shared/priorities'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { deleteEndedMedia } from '../src/queries/media/waiting-media.ts'
import { cancelMessage } from '../src/queries/messages/cancel-message.ts'
import {
  claimFirstMessages,
  claimMessages,
  claimWithAuthWrites,
  releaseMessages,
} from '../src/queries/messages/message-claims.ts'
import { storeUploadedContent } from '../src/queries/messages/message-content.ts'
import { type MessageOutcome, recordOutcomes } from '../src/queries/messages/message-outcomes.ts'
import { storeSetbacks } from '../src/queries/messages/message-setbacks.ts'
import { expireMessages, firstWaiting } from '../src/queries/messages/unsendable-messages.ts'
import {
  findLastWaiting,
  listNextMessages,
  listWaitingMessages,
  type WaitingMessage,
} from '../src/queries/messages/waiting-messages.ts'
import { beginning, deleteUnusedMedia } from '../src/queries/retention/housekeeping.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'
import { countReads } from './table-reads.ts'

const queueLength = 4000
const next = { except: [], exceptNumbers: [], without: [], limit: 4 }
let db: Database
let accountId: number
let drop: () => Promise<void>
let device: OwnedDevice

beforeAll(async () => {
  // One connection, which has all prepared statements.
  const database = await openOwnedDevices({ poolSize: 1, isWeekly: true })
  ;({ db, accountId, drop } = database)
  device = await database.addLinkedDevice()
  // The statistics are those of a time when hardly any message waited.
  for (let week = -1; week < 7; week++) await insert('sent', 500, week)
  await db.$client`ANALYZE messages`
  await insert('queued', queueLength)
  await db.$client`
    INSERT INTO media_blobs (message_id, account_id, mime, bytes, created_at)
    SELECT id, account_id, 'image/png', '', created_at FROM messages WHERE is_waiting LIMIT 10`
})
afterAll(() => drop())

async function insert(status: string, count: number, week = 0): Promise<void> {
  const ids = Array.from({ length: count }, () => makeMessageId('1'))
  await db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
      link_generation, created_at)
    SELECT id, ${accountId}, ${device.deviceId}, 'out', 'text', '1', (n % 5)::text, 'x', ${status}, n::text,
      1, now() - interval '2 hours' + ${week} * interval '1 week'
    FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS given (id, n)`
}

const outcomesOf = (messages: WaitingMessage[], outcome: Pick<MessageOutcome, 'status' | 'error'>) =>
  messages.map(({ id, createdAt }): MessageOutcome => {
    return { ...device, messageId: id, createdAt, at: new Date().toISOString(), ...outcome }
  })

const claimsOf = (messages: WaitingMessage[]) =>
  messages.map((message) => ({ ...message, fence: device.fence, recipientJid: 'jid', setback: null }))

const statements: Record<string, (messages: WaitingMessage[]) => Promise<unknown>> = {
  claim: (messages) => claimMessages(db, claimsOf(messages)),
  'claim that counts new contacts': (messages) => claimFirstMessages(db, claimsOf(messages)),
  'claim with a Signal state': (messages) =>
    claimWithAuthWrites(db, claimsOf(messages), [
      { ...device, rows: [{ type: 'session', id: 'a', value: Buffer.from('x') }] },
    ]),
  setback: (messages) =>
    storeSetbacks(
      db,
      claimsOf(messages).map((claim) => ({
        ...claim,
        setback: 'unanswered',
        sentence: 'x',
        pauseMs: 0,
        isFailing: true,
      })),
    ),
  read: (messages) =>
    listNextMessages(db, [
      { deviceId: device.deviceId, priority: normalPriority, except: messages.map(({ id }) => id) },
    ]),
  'search for the last message': () => findLastWaiting(db, device.deviceId, normalPriority),
  'search past blocked messages among new ones': async () => {
    const after = await findLastWaiting(db, device.deviceId, normalPriority)
    const exceptNumbers = ['0', '1', '2', '3', '4']
    const wanted = { ...next, exceptNumbers, after: (after ?? 0) - 10 }
    expect(await listWaitingMessages(db, device.deviceId, wanted)).toEqual([])
  },
  release: (messages) => releaseMessages(db, claimsOf(messages)),
  upload: async ([message]) =>
    message && storeUploadedContent(db, device.fence, { ...message, content: Buffer.from('x') }),
  'sent message': (messages) => recordOutcomes(db, outcomesOf(messages, { status: 'sent' })),
  'failed message': (messages) =>
    recordOutcomes(
      db,
      outcomesOf(messages, { status: 'failed', error: { code: 'rejected_by_whatsapp', sentence: 'x' } }),
    ),
  'canceled message': async ([message]) => message && cancelMessage(db, accountId, message.id),
  'deletion of media of an account': () => deleteEndedMedia(db, accountId),
  'deletion of media': () => deleteUnusedMedia(db, beginning),
}

/** Of a statement for many rows. Postgres makes five plans for given values before it may keep one for all values. */
async function mostPlans(): Promise<number> {
  const [row] = await db.$client<{ plans: number }[]>`
    SELECT max(custom_plans)::int AS plans FROM pg_prepared_statements WHERE statement LIKE '%unnest%'`
  return row?.plans ?? 0
}

test.each(Object.entries(statements))(
  'the %s neither reads the whole queue nor is planned each time',
  async (_, run) => {
    const work = async () => run(await listWaitingMessages(db, device.deviceId, next))
    expect(await countReads(db, work)).toBeLessThan(1000)
    expect(await mostPlans()).toBeLessThanOrEqual(5)
  },
)

test('the search for expired messages reads the queue of the device once', async () => {
  const ttl = { ttlMs: 72 * 3_600_000, sentence: 'x' }
  const work = () => expireMessages(db, device.fence, device.deviceId, firstWaiting, ttl)
  expect(await countReads(db, work)).toBeLessThan(2 * queueLength)
})

test('outcomes are recorded without a search in other weeks', async () => {
  const countSearches = async () => {
    await db.$client`SELECT pg_stat_force_next_flush()`
    await db.$client`SELECT pg_stat_clear_snapshot()`
    const [row] = await db.$client<{ searches: number }[]>`
      SELECT sum(seq_scan + idx_scan)::int AS searches FROM pg_stat_user_tables
      WHERE relname LIKE 'messages\_2%' AND right(relname, 8)::date > now() + interval '2 weeks'`
    return row?.searches
  }
  const messages = await listWaitingMessages(db, device.deviceId, next)
  const before = await countSearches()
  await recordOutcomes(db, outcomesOf(messages, { status: 'sent' }))
  expect(await countSearches()).toBe(before)
})
