import { randomUUID } from 'node:crypto'
import { makeMessageId, messageIdOf, whatsAppIdOf } from '@wagate/shared/ids'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { findSentContent } from '../src/queries/messages/message-content.ts'
import { type MessageOutcome, recordOutcomes } from '../src/queries/messages/message-outcomes.ts'

const sender = '4915100000000'
const dayMs = 86_400_000
const deviceId = 1
const fence = { shard: 1, workerId: randomUUID(), epoch: 7 }
let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 2, applicationName: 'test', statementTimeoutMs: 5000 })
  await db.$client`UPDATE shard_leases SET owner = ${fence.workerId}, epoch = 7 WHERE shard = 1`
  await db.$client.unsafe(
    `CREATE TABLE messages_long_ago PARTITION OF messages FOR VALUES FROM ('2020-01-01') TO ('${isoDay(-15)}')`,
  )
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

const isoDay = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10)

/** A message that was accepted `daysAgo`, by a process whose clock was wrong by `clockErrorDays`. */
async function insertSending(daysAgo: number, clockErrorDays = 0): Promise<string> {
  const id = makeMessageId(sender, Date.now() - (daysAgo - clockErrorDays) * dayMs)
  await db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
      recipient_jid, link_generation, created_at)
    VALUES (${id}, 1, ${deviceId}, 'out', 'text', ${sender}, '1', 'x', 'sending', ${whatsAppIdOf(id)}, 'jid', 1,
      now() - ${daysAgo} * interval '1 day')`
  return id
}

const statusOf = async (id: string) =>
  (await db.$client`SELECT status FROM messages WHERE id = ${id}`)[0]?.status

/** As for a receipt, of which a worker knows only the WhatsApp id. */
function outcomeOf(id: string, status: 'sent' | 'delivered'): MessageOutcome {
  const messageId = messageIdOf(whatsAppIdOf(id), sender) ?? ''
  return { fence, deviceId, messageId, status, at: new Date().toISOString() }
}

test.each([0, 29, 31, 45, 60, 85])(
  'a message accepted %d days ago gets its acknowledgement and its receipt',
  async (days) => {
    const id = await insertSending(days)
    const unknown: MessageOutcome[] = []
    for (const status of ['sent', 'delivered'] as const) {
      await recordOutcomes(db, [outcomeOf(id, status)], (outcomes) => unknown.push(...outcomes))
      expect(await statusOf(id)).toBe(status)
    }
    expect(unknown).toEqual([])
    const guess = messageIdOf(whatsAppIdOf(id), sender) ?? ''
    expect(await findSentContent(db, deviceId, guess, ['jid'])).toMatchObject({ id, body: 'x' })
  },
)

test('outcomes of old and new messages are recorded together', async () => {
  const ids = [await insertSending(0), await insertSending(31), await insertSending(50)]
  await recordOutcomes(
    db,
    ids.map((id) => outcomeOf(id, 'sent')),
  )
  expect(await Promise.all(ids.map(statusOf))).toEqual(['sent', 'sent', 'sent'])
})

test('the acknowledgement of a message whose id has a wrong time finds the row that was read', async () => {
  const id = await insertSending(20, 10)
  const [row] = await db.$client<{ createdAt: string }[]>`
    SELECT created_at::text AS "createdAt" FROM messages WHERE id = ${id}`
  await recordOutcomes(db, [{ ...outcomeOf(id, 'sent'), messageId: id, createdAt: row?.createdAt ?? '' }])
  expect(await statusOf(id)).toBe('sent')
})

test('reports outcomes of no known message, and no others', async () => {
  const id = await insertSending(0)
  const unknown: string[] = []
  const note = (outcomes: MessageOutcome[]) => unknown.push(...outcomes.map(({ status }) => status))
  await recordOutcomes(db, [outcomeOf(id, 'delivered'), outcomeOf(makeMessageId(sender), 'sent')], note)
  await recordOutcomes(db, [outcomeOf(id, 'sent')], note)
  await recordOutcomes(db, [{ ...outcomeOf(id, 'delivered'), deviceId: deviceId + 1 }], note)
  expect(unknown).toEqual(['sent', 'delivered'])
  expect(await statusOf(id)).toBe('delivered')
})

test('an outcome is recorded although the clock of Postgres was set back since the message was accepted', async () => {
  const id = await insertSending(-60 / 86_400)
  await recordOutcomes(db, [outcomeOf(id, 'sent')])
  expect(await statusOf(id)).toBe('sent')
})
