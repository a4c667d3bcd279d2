import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import type { MessageStatus } from '@wagate/shared/statuses'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { createDevice, findDevice } from '../src/queries/devices/devices.ts'
import { cancelMessage } from '../src/queries/messages/cancel-message.ts'
import { claimMessages } from '../src/queries/messages/message-claims.ts'
import { findSentContent } from '../src/queries/messages/message-content.ts'
import { type OutcomeResult, recordOutcomes } from '../src/queries/messages/message-outcomes.ts'
import { expireMessages, firstWaiting } from '../src/queries/messages/unsendable-messages.ts'
import type { Fence } from '../src/queries/statements/fence.ts'
import { claimShards } from '../src/queries/workers/shard-leases.ts'
import { registerWorker } from '../src/queries/workers/workers.ts'
import { openAccountDatabase } from './account-database.ts'
import { listMessageEvents } from './message-events.ts'

let db: Database
let drop: () => Promise<void>
let device: { id: number; accountId: number }
let fence: Fence

beforeAll(async () => {
  const database = await openAccountDatabase()
  ;({ db, drop } = database)
  const { accountId } = database
  await createDevice(db, accountId, { sender: '4915100000000', name: 'x', cmsId: null, cmsVer: null })
  const created = await findDevice(db, accountId, { sender: '4915100000000' }, 0)
  if (!created) throw new Error('The device was not created')
  device = { id: created.id, accountId }
  await db.$client`
    UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = 1 WHERE id = ${device.id}`
  const workerId = randomUUID()
  await registerWorker(db, { id: workerId, name: 'w', capacity: 1, leaseTtlMs: 3_600_000 })
  await claimShards(db, workerId, [created.shard])
  const [lease] = await db.$client<{ epoch: number }[]>`
    SELECT epoch::int FROM shard_leases WHERE shard = ${created.shard}`
  fence = { shard: created.shard, workerId, epoch: lease?.epoch ?? 0 }
})
afterAll(() => drop())

type Outcome = 'sent' | 'delivered' | 'read' | 'played' | 'failed'
/** Events of a message, in any order: receipts may be late, repeated and batched. */
type Step =
  | { kind: 'claim' }
  | { kind: 'outcomes'; outcomes: Outcome[]; isFormerOwner: boolean; clockErrorMs: number }
  | { kind: 'expire' | 'cancel' }

const outcome = fc.constantFrom<Outcome>('sent', 'delivered', 'read', 'played', 'failed')
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constant<Step>({ kind: 'claim' }) },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('outcomes' as const),
        outcomes: fc.array(outcome, { minLength: 1, maxLength: 3 }),
        isFormerOwner: fc.oneof(
          { weight: 5, arbitrary: fc.constant(false) },
          { weight: 1, arbitrary: fc.constant(true) },
        ),
        clockErrorMs: fc.constantFrom(0, 3_600_000, -7_200_000),
      }),
    },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: 'expire' }) },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: 'cancel' }) },
  ),
  { minLength: 1, maxLength: 8 },
)

const receipts = ['sent', 'delivered', 'read'] as const
const statusOf = (outcome: Outcome) => (outcome === 'played' ? 'read' : outcome)
const rankOf = (status: MessageStatus) => (receipts as readonly MessageStatus[]).indexOf(status)
const isOpen = (status: MessageStatus) => status === 'queued' || status === 'sending'

/** The status after a step, computed independently of the SQL. */
function next({ status, errorCode }: Pick<Recorded, 'status' | 'errorCode'>, step: Step): MessageStatus {
  switch (step.kind) {
    case 'claim':
      return isOpen(status) ? 'sending' : status
    case 'expire':
      return isOpen(status) ? 'failed' : status
    case 'cancel':
      return status === 'queued' ? 'canceled' : status
    case 'outcomes': {
      if (step.isFormerOwner || status === 'canceled') return status
      const best = receipts.findLast((receipt) => step.outcomes.some((one) => statusOf(one) === receipt))
      if (best === undefined) return isOpen(status) ? 'failed' : status
      // An acknowledgement of the server disproves an expiry, and a receipt of the recipient every failure.
      if (status === 'failed') return best === 'sent' && errorCode !== 'message_expired' ? 'failed' : best
      return rankOf(best) > rankOf(status) ? best : status
    }
  }
}

test('a status only moves forward, with outcomes that are late, repeated, concurrent, from a former owner or by a wrong clock', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      const message = await insertMessage()
      let before = await read(message.id)
      const events: string[] = []
      for (const step of given) {
        const results = await take(step, message)
        const after = await read(message.id)
        if (step.kind === 'outcomes' && step.outcomes.includes('sent') && results.includes('recorded')) {
          expect(rankOf(after.status)).toBeGreaterThanOrEqual(0)
        }
        expect(after.status).toBe(next(before, step))
        // Recorded times stay, and a received message has no error.
        expect(after.isPlausible).toBe(true)
        for (const moment of ['sentAt', 'deliveredAt', 'readAt', 'playedAt'] as const) {
          if (before[moment] !== null) expect(after[moment]).toBe(before[moment])
        }
        expect(after.errorCode !== null).toBe(after.status === 'failed')
        expect(after.sentAt !== null).toBe(rankOf(after.status) >= 0)
        expect(after.readAt !== null).toBe(after.status === 'read')
        const isPlayed = step.kind === 'outcomes' && step.outcomes.includes('played') && !step.isFormerOwner
        expect(after.playedAt !== null).toBe(
          before.playedAt !== null || (isPlayed && after.status === 'read'),
        )
        expect((await listMessageEvents(db, message.id)).slice(events.length)).toEqual(
          changesOf(before, after),
        )
        events.push(...changesOf(before, after))
        before = after
      }
    }),
    { numRuns: 200 },
  )
})

test('a message that could not be sent in time fails with message_expired', async () => {
  const message = await insertMessage()
  await expire(3_600_000)
  expect(await read(message.id)).toMatchObject({ status: 'queued', errorCode: null })
  await expire(-1)
  expect(await read(message.id)).toMatchObject({ status: 'failed', errorCode: 'message_expired' })
})

test('only the recipient and the sending device report on a message and get its content', async () => {
  const { id: messageId, createdAt } = await insertMessage()
  await claimMessages(db, [{ fence, id: messageId, createdAt, recipientJid: 'them', setback: null }])
  const outcome = { fence, messageId, status: 'read' as const, at: new Date().toISOString() }
  const [them, stranger] = [
    { jid: 'their other address', otherJid: 'them' },
    { jid: 'stranger', otherJid: null },
  ]
  await recordOutcomes(db, [{ ...outcome, deviceId: device.id + 1, saidBy: them }])
  await recordOutcomes(db, [{ ...outcome, deviceId: device.id, saidBy: stranger }])
  expect(await read(messageId)).toMatchObject({ status: 'sending' })
  await recordOutcomes(db, [{ ...outcome, deviceId: device.id, saidBy: them }])
  expect(await read(messageId)).toMatchObject({ status: 'read' })
  expect(await findSentContent(db, device.id + 1, messageId, ['them'])).toBeUndefined()
  expect(await findSentContent(db, device.id, messageId, ['stranger'])).toBeUndefined()
  expect(await findSentContent(db, device.id, messageId, ['x', 'them'])).toMatchObject({ id: messageId })
})

test('a recipient is still recognised after a crash of Postgres has undone the claim', async () => {
  const { id: messageId } = await insertMessage()
  const at = new Date().toISOString()
  const outcome = { fence, messageId, deviceId: device.id, at, recipientJid: 'them' }
  const report = (jid: string, status: 'delivered' | 'read') =>
    recordOutcomes(db, [{ ...outcome, status, saidBy: { jid, otherJid: null } }])
  await report('stranger', 'read')
  expect(await read(messageId)).toMatchObject({ status: 'queued' })
  await report('them', 'delivered')
  expect(await read(messageId)).toMatchObject({ status: 'delivered' })
  expect(await findSentContent(db, device.id, messageId, ['them'])).toMatchObject({ id: messageId })
  const { id: acknowledged } = await insertMessage()
  await recordOutcomes(db, [{ ...outcome, messageId: acknowledged, status: 'sent' }])
  expect(await findSentContent(db, device.id, acknowledged, ['them'])).toMatchObject({ id: acknowledged })
})

type Message = { id: string; createdAt: string }

async function insertMessage(): Promise<Message> {
  const [row] = await db.$client<Message[]>`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id, link_generation)
    VALUES (${makeMessageId('1')}, ${device.accountId}, ${device.id}, 'out', 'text', '1', '2', 'x', 'queued', ${randomUUID()}, 1)
    RETURNING id, created_at::text AS "createdAt"`
  if (!row) throw new Error('The message was not inserted')
  return row
}

async function expire(ttlMs: number): Promise<void> {
  await expireMessages(db, fence, device.id, firstWaiting, { ttlMs, sentence: 'Too late.' })
}

/** Returns the results of outcomes. */
async function take(step: Step, { id, createdAt }: Message): Promise<OutcomeResult[]> {
  switch (step.kind) {
    case 'claim':
      await claimMessages(db, [{ fence, id, createdAt, recipientJid: 'jid', setback: null }])
      return []
    case 'expire':
      await expire(-1)
      return []
    case 'cancel':
      await cancelMessage(db, device.accountId, id)
      return []
    case 'outcomes': {
      const writer = step.isFormerOwner ? { ...fence, epoch: fence.epoch - 1 } : fence
      const at = new Date(Date.now() + step.clockErrorMs).toISOString()
      return recordOutcomes(
        db,
        step.outcomes.map((status) => ({
          fence: writer,
          deviceId: device.id,
          messageId: id,
          status,
          at,
          ...(status === 'failed' && { error: { code: 'rejected_by_whatsapp' as const, sentence: 'No.' } }),
        })),
      )
    }
  }
}

/** The events that tell a subscriber about it. */
function changesOf(before: Recorded, after: Recorded): string[] {
  return [
    ...(after.status === 'failed' && before.status !== 'failed' ? ['message.failed'] : []),
    ...(after.sentAt !== before.sentAt ? [`message.sent ${after.sentAt}`] : []),
    ...(after.deliveredAt !== before.deliveredAt ? [`message.delivered ${after.deliveredAt}`] : []),
    ...(after.readAt !== before.readAt ? [`message.read ${after.readAt}`] : []),
    ...(after.playedAt !== before.playedAt ? [`message.played ${after.playedAt}`] : []),
    ...(after.status === 'canceled' && before.status !== 'canceled' ? ['message.canceled'] : []),
  ]
}

type Recorded = Awaited<ReturnType<typeof read>>

async function read(id: string) {
  const [row] = await db.$client<
    {
      status: MessageStatus
      errorCode: string | null
      sentAt: string | null
      deliveredAt: string | null
      readAt: string | null
      playedAt: string | null
      isPlausible: boolean
    }[]
  >`
    SELECT status, error_code AS "errorCode", sent_at::text AS "sentAt", delivered_at::text AS "deliveredAt",
      read_at::text AS "readAt", played_at::text AS "playedAt",
      coalesce(least(sent_at, delivered_at, read_at, played_at) >= created_at, true)
        AND coalesce(greatest(sent_at, delivered_at, read_at, played_at) <= now(), true) AS "isPlausible"
    FROM messages WHERE id = ${id}`
  if (!row) throw new Error('The message is gone')
  return row
}
