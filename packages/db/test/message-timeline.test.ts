import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { toTimelineObject } from '@wagate/shared/objects/timeline-object'
import { entriesMax } from '@wagate/shared/timeline-marks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { createDevice, findDevice } from '../src/queries/devices/devices.ts'
import { cancelMessage } from '../src/queries/messages/cancel-message.ts'
import { claimMessages } from '../src/queries/messages/message-claims.ts'
import { recordOutcomes } from '../src/queries/messages/message-outcomes.ts'
import { storeSetbacks } from '../src/queries/messages/message-setbacks.ts'
import { findTimedMessage } from '../src/queries/messages/message-timeline.ts'
import { expireMessages, firstWaiting } from '../src/queries/messages/unsendable-messages.ts'
import type { Fence } from '../src/queries/statements/fence.ts'
import { claimShards, releaseShards } from '../src/queries/workers/shard-leases.ts'
import { registerWorker } from '../src/queries/workers/workers.ts'
import { openAccountDatabase } from './account-database.ts'

let db: Database
let drop: () => Promise<void>
let accountId: number
let device: { id: number; shard: number }

beforeAll(async () => {
  ;({ db, drop, accountId } = await openAccountDatabase())
  await createDevice(db, accountId, { sender: '4915100000000', name: 'x', cmsId: null, cmsVer: null })
  const created = await findDevice(db, accountId, { sender: '4915100000000' }, 0)
  if (!created) throw new Error('The device was not created')
  device = created
  await db.$client`
    UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = 1 WHERE id = ${device.id}`
})
afterAll(() => drop())

let owner: Fence | undefined

/** A new worker, that owns the shard from now on. */
async function own(): Promise<Fence> {
  if (owner) await releaseShards(db, owner.workerId, [owner])
  const workerId = randomUUID()
  await registerWorker(db, { id: workerId, name: 'w', capacity: 1, leaseTtlMs: 3_600_000 })
  const [owned] = await claimShards(db, workerId, [device.shard])
  if (!owned) throw new Error('The shard was not claimed')
  owner = { shard: device.shard, workerId, epoch: owned.epoch }
  return owner
}

type Stored = { id: string; createdAt: string }

async function insert(sendAt: Date | null = null): Promise<Stored> {
  const [stored] = await db.$client<Stored[]>`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation,
      created_at, send_at)
    VALUES (${makeMessageId('1')}, ${accountId}, ${device.id}, 'out', 'text', '1', '2', 'queued', 'X', 1,
      now() - interval '1 minute', ${sendAt?.toISOString() ?? null}::timestamptz)
    RETURNING id, created_at::text AS "createdAt"`
  if (!stored) throw new Error('The message was not inserted')
  return stored
}

const claim = (fence: Fence, message: Stored, recipientJid: string | null = 'jid') =>
  claimMessages(db, [{ ...message, fence, recipientJid, setback: null }])

const noteOf = (fence: Fence, message: Stored) => ({
  ...message,
  fence,
  setback: 'unanswered' as const,
  sentence: 'No answer.',
  pauseMs: 0,
  isFailing: true,
})

const fall = (fence: Fence, message: Stored) => storeSetbacks(db, [noteOf(fence, message)])

const end = (fence: Fence, { id, createdAt }: Stored, status: 'sent' | 'delivered' | 'failed') => {
  const error = { code: 'message_expired' as const, sentence: 'x' }
  const at = new Date().toISOString()
  return recordOutcomes(db, [
    {
      fence,
      deviceId: device.id,
      messageId: id,
      createdAt,
      status,
      at,
      ...(status === 'failed' && { error }),
    },
  ])
}

async function read({ id }: Stored) {
  const message = await findTimedMessage(db, accountId, { message_id: id })
  if (!message) throw new Error('The message is gone')
  return { message, steps: toTimelineObject(message) }
}

/** Each step in one word, with its attempt and reason. */
async function list(message: Stored): Promise<string[]> {
  const { steps } = await read(message)
  return steps.map(({ step, attempt, reason }) => [step, attempt, reason].filter(Boolean).join(' '))
}

test('each attempt, setback and takeover is a step, and every step has its time', async () => {
  const first = await own()
  const message = await insert()
  await claim(first, message)
  await fall(first, message)
  await claim(first, message)
  const second = await own()
  await claim(second, message)
  await end(second, message, 'sent')
  await end(second, message, 'delivered')
  expect(await list(message)).toEqual([
    'queued',
    'sending 1',
    'setback 1 unanswered',
    'sending 2',
    'setback 2 taken_over',
    'sending 3',
    'sent',
    'delivered',
  ])
  const { steps } = await read(message)
  for (const { at } of steps.slice(1)) expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(10_000)
})

test('a setback before a takeover is the reason of the next attempt', async () => {
  const first = await own()
  const message = await insert()
  await claim(first, message)
  await fall(first, message)
  const second = await own()
  await claim(second, message)
  expect(await list(message)).toEqual(['queued', 'sending 1', 'setback 1 unanswered', 'sending 2'])
})

test('a claim to prepare media is no attempt', async () => {
  const fence = await own()
  const message = await insert()
  await claim(fence, message, null)
  await fall(fence, message)
  expect(await list(message)).toEqual(['queued', 'setback unanswered'])
})

test('a failed, expired or canceled message says when and why', async () => {
  const fence = await own()
  const [failed, expired, canceled] = [await insert(), await insert(), await insert()]
  await claim(fence, failed)
  await end(fence, failed, 'failed')
  await cancelMessage(db, accountId, canceled.id)
  await expireMessages(db, fence, device.id, firstWaiting, { ttlMs: -1, sentence: 'x' })
  expect(await list(failed)).toEqual(['queued', 'sending 1', 'failed message_expired'])
  expect(await list(expired)).toEqual(['queued', 'failed message_expired'])
  expect(await list(canceled)).toEqual(['queued', 'canceled'])
})

test('a scheduled message is queued when its time comes', async () => {
  const fence = await own()
  const [due, canceled] = [
    await insert(new Date(Date.now() - 30_000)),
    await insert(new Date(Date.now() + 60_000)),
  ]
  expect(await list(canceled)).toEqual(['scheduled'])
  expect(await list(due)).toEqual(['scheduled', 'queued'])
  await claim(fence, due)
  await cancelMessage(db, accountId, canceled.id)
  expect(await list(due)).toEqual(['scheduled', 'queued', 'sending 1'])
  expect(await list(canceled)).toEqual(['scheduled', 'canceled'])
})

test('a former owner adds no step, also beside the present one', async () => {
  const first = await own()
  const [message, other] = [await insert(), await insert()]
  const second = await own()
  await claim(first, message)
  await storeSetbacks(db, [noteOf(first, message), noteOf(second, other)])
  await end(first, message, 'failed')
  expect(await list(message)).toEqual(['queued'])
  expect(await list(other)).toEqual(['queued', 'setback unanswered'])
})

test('nothing is added to a message that has ended', async () => {
  const fence = await own()
  const message = await insert()
  await claim(fence, message)
  await end(fence, message, 'sent')
  await fall(fence, message)
  await claim(fence, message)
  expect(await list(message)).toEqual(['queued', 'sending 1', 'sent'])
})

test('of many attempts the first and the last are kept, with their numbers', async () => {
  const fence = await own()
  const message = await insert()
  const attempts = 50
  for (let count = 0; count < attempts; count++) {
    await claim(fence, message)
    await fall(fence, message)
  }
  const steps = await list(message)
  const pair = (attempt: number) => [`sending ${attempt}`, `setback ${attempt} unanswered`]
  const numbers = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index)
  expect(steps).toEqual([
    'queued',
    ...numbers(1, entriesMax.first / 2).flatMap(pair),
    ...numbers(attempts - entriesMax.last / 2 + 1, attempts).flatMap(pair),
  ])
})
