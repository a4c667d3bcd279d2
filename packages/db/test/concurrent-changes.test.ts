import { makeMessageId } from '@wagate/shared/ids'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { cancelMessage } from '../src/queries/messages/cancel-message.ts'
import { claimFirstMessages, claimMessages, releaseMessages } from '../src/queries/messages/message-claims.ts'
import { type MessageOutcome, recordOutcomes } from '../src/queries/messages/message-outcomes.ts'
import { storeSetbacks } from '../src/queries/messages/message-setbacks.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

type Given = { id: string; createdAt: string }
type Row = { status: string; held_epoch: number | null; setback: string | null }

let db: Database
let url: string
let accountId: number
let drop: () => Promise<void>
let device: OwnedDevice

beforeAll(async () => {
  const database = await openOwnedDevices()
  ;({ db, url, accountId, drop } = database)
  device = await database.addLinkedDevice()
})
afterAll(() => drop())

/** In a later week than this one: a search near its time excludes earlier partitions, whatever day it is. */
async function insert(): Promise<Given> {
  const acceptedMs = Date.now() + 2 * 7 * 86_400_000
  const id = makeMessageId('1', acceptedMs)
  const [row] = await db.$client<Given[]>`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
      link_generation, held_epoch, created_at)
    VALUES (${id}, ${accountId}, ${device.deviceId}, 'out', 'text', '1', '2', 'x', 'queued', ${id}, 1,
      ${device.fence.epoch}, ${new Date(acceptedMs).toISOString()})
    RETURNING id, created_at::text AS "createdAt"`
  if (!row) throw new Error('Not inserted')
  return row
}

const claimOf = (message: Given) => ({ ...message, fence: device.fence, recipientJid: 'jid', setback: null })

const outcomeOf = ({ id }: Given, status: MessageOutcome['status']): MessageOutcome => ({
  ...device,
  messageId: id,
  at: new Date().toISOString(),
  status,
  recipientJid: 'jid',
  saidBy: { jid: 'jid', otherJid: null },
})

/** For a lock, among the sessions of this database. */
async function untilOneWaits(): Promise<void> {
  await vi.waitFor(async () => {
    const waiting = await db.$client`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    expect(waiting.length).toBe(1)
  }, eventually)
}

test.each<[string, (message: Given) => Promise<unknown>, Partial<Row>]>([
  ['a receipt', (message) => recordOutcomes(db, [outcomeOf(message, 'delivered')]), { status: 'delivered' }],
  ['a claim', (message) => claimMessages(db, [claimOf(message)]), { status: 'sending' }],
  [
    'a claim that counts new contacts',
    (message) => claimFirstMessages(db, [claimOf(message)]),
    { status: 'sending' },
  ],
  ['a release', (message) => releaseMessages(db, [claimOf(message)]), { held_epoch: null }],
  [
    'a setback',
    (message) =>
      storeSetbacks(db, [
        { ...claimOf(message), setback: 'unanswered', sentence: 'x', pauseMs: 0, isFailing: true },
      ]),
    { setback: 'x' },
  ],
  ['a cancellation', ({ id }) => cancelMessage(db, accountId, id), { status: 'canceled' }],
])('%s waits for another change of the message, and is not lost', async (_, change, expected) => {
  const message = await insert()
  const other = await db.$client.reserve()
  await other`BEGIN`
  await other`UPDATE messages SET attempts = 1 WHERE id = ${message.id}`
  const changed = change(message)
  await untilOneWaits()
  await other`COMMIT`
  other.release()
  await changed
  const [row] = await db.$client`SELECT status, held_epoch, setback FROM messages WHERE id = ${message.id}`
  expect(row).toMatchObject(expected)
})

test('receipts of several messages wait for a change of one of them, and none is lost', async () => {
  const messages = [await insert(), await insert(), await insert()]
  const generic = openDatabase(url, {
    poolSize: 1,
    applicationName: 'generic',
    statementTimeoutMs: 5000,
    plans: 'generic',
  })
  const changed = messages[1]
  const other = await db.$client.reserve()
  await other`BEGIN`
  await other`UPDATE messages SET attempts = 1 WHERE id = ${changed?.id ?? null}`
  const recorded = recordOutcomes(
    generic,
    messages.map((message) => outcomeOf(message, 'delivered')),
  )
  await untilOneWaits()
  await other`COMMIT`
  other.release()
  expect(await recorded).toEqual(['recorded', 'recorded', 'recorded'])
  await closeDatabase(generic)
})
