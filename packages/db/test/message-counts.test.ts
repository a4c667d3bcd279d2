import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import { until } from '@wagate/test-kit/until'
import type postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MessageOutcome, recordOutcomes } from '../src/queries/messages/message-outcomes.ts'
import { insertReceivedMessages, type ReceivedMessage } from '../src/queries/messages/received-messages.ts'
import { expireMessages, firstWaiting } from '../src/queries/messages/unsendable-messages.ts'
import { listCounts, listCountsOfEvents } from './message-counts.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

const dayMs = 86_400_000
let owned: Awaited<ReturnType<typeof openOwnedDevices>>

beforeAll(async () => {
  owned = await openOwnedDevices({ poolSize: 8 })
})
afterAll(() => owned.drop())

type Sender = OwnedDevice & { sender: string }
let senders = 0

async function addSender(): Promise<Sender> {
  const sender = String(15_552_095_000 + senders++)
  return { sender, ...(await owned.addLinkedDevice(sender)) }
}

/** A message that is on its way, since `daysAgo`. */
async function addSending({ sender, deviceId }: Sender, daysAgo = 0): Promise<string> {
  const id = makeMessageId(sender, Date.now() - daysAgo * dayMs)
  await owned.db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
      recipient_jid, link_generation, created_at)
    VALUES (${id}, ${owned.accountId}, ${deviceId}, 'out', 'text', ${sender}, '1', 'x', 'sending', ${whatsAppIdOf(id)},
      'jid', 1, now() - ${daysAgo} * interval '1 day')`
  return id
}

function outcomeOf(
  { fence, deviceId }: Sender,
  messageId: string,
  status: MessageOutcome['status'],
  at = new Date(),
): MessageOutcome {
  const error = { code: 'rejected_by_whatsapp', sentence: 'No.' } as const
  const failure = status === 'failed' && { error }
  return { fence, deviceId, messageId, status, at: at.toISOString(), ...failure }
}

function receivedBy(
  { sender, fence, deviceId }: Sender,
  fields: Partial<ReceivedMessage> = {},
): ReceivedMessage {
  const id = makeMessageId(sender)
  return {
    ...{
      fence,
      id,
      accountId: owned.accountId,
      deviceId,
      sender,
      number: '4915187654321',
      linkGeneration: 1,
    },
    ...{ type: 'text', body: 'Hello', waId: id },
    ...fields,
  }
}

const none = { sent: 0, delivered: 0, read: 0, failed: 0, received: 0 }

/** The counts must be those of the events, whatever happened. */
async function expectCounts({ sender, deviceId }: Sender, expected: object[]): Promise<void> {
  const counts = await listCounts(owned.db, sender)
  expect(counts.map(({ day: _, ...rest }) => rest)).toEqual(expected)
  expect(counts).toEqual(await listCountsOfEvents(owned.db, deviceId))
}

test('one statement counts what became of many messages of several senders, each sender in one row', async () => {
  const [first, second] = [await addSender(), await addSender()]
  const outcomes: MessageOutcome[] = []
  for (const sender of [first, second, first]) {
    const id = await addSending(sender)
    outcomes.push(outcomeOf(sender, id, 'sent'), outcomeOf(sender, id, 'read'))
  }
  await recordOutcomes(owned.db, outcomes)
  await recordOutcomes(owned.db, outcomes)
  await expectCounts(first, [{ ...none, sent: 2, delivered: 2, read: 2 }])
  await expectCounts(second, [{ ...none, sent: 1, delivered: 1, read: 1 }])
  const [row] = await owned.db.$client`
    SELECT count(*)::int FROM message_counts WHERE sender IN (${first.sender}, ${second.sender})`
  expect(row).toEqual({ count: 2 })
})

test('what happens on different days counts on each of them, and not in the future', async () => {
  const sender = await addSender()
  const id = await addSending(sender, 3)
  const ago = (days: number) => new Date(Date.now() - days * dayMs)
  await recordOutcomes(owned.db, [outcomeOf(sender, id, 'sent', ago(3))])
  await recordOutcomes(owned.db, [outcomeOf(sender, id, 'delivered', ago(1))])
  await recordOutcomes(owned.db, [outcomeOf(sender, id, 'read', ago(-5))])
  await insertReceivedMessages(owned.db, [
    receivedBy(sender, { writtenAt: ago(3).toISOString() }),
    receivedBy(sender, { writtenAt: ago(-5).toISOString() }),
    receivedBy(sender),
  ])
  await expectCounts(sender, [
    { ...none, sent: 1, received: 1 },
    { ...none, delivered: 1 },
    { ...none, read: 1, received: 2 },
  ])
})

test('failures count by their reason, and stay when the message arrives after all', async () => {
  const sender = await addSender()
  const [refused, expired] = [await addSending(sender), await addSending(sender)]
  await recordOutcomes(owned.db, [outcomeOf(sender, refused, 'failed')])
  for (let times = 0; times < 2; times++)
    await expireMessages(owned.db, sender.fence, sender.deviceId, firstWaiting, {
      ttlMs: -1,
      sentence: 'Late.',
    })
  await recordOutcomes(owned.db, [
    outcomeOf(sender, refused, 'delivered'),
    outcomeOf(sender, expired, 'sent'),
  ])
  const rows = await owned.db.$client`
    SELECT error_code, sent, delivered, failed FROM message_counts WHERE sender = ${sender.sender} ORDER BY 1`
  expect(rows).toEqual([
    { error_code: '', sent: 2, delivered: 1, failed: 0 },
    { error_code: 'message_expired', sent: 0, delivered: 0, failed: 1 },
    { error_code: 'rejected_by_whatsapp', sent: 0, delivered: 0, failed: 1 },
  ])
  await expectCounts(sender, [{ ...none, sent: 2, delivered: 1, failed: 2 }])
})

test('a received message counts once, also if it is delivered again or its content follows', async () => {
  const sender = await addSender()
  const missing = receivedBy(sender, { type: 'other', body: null, unavailable: 'undecryptable' })
  const content = receivedBy(sender, { ...missing, body: 'Seen', unavailable: null, isReplacement: true })
  for (const message of [missing, missing, content, content])
    await insertReceivedMessages(owned.db, [message])
  await insertReceivedMessages(owned.db, [receivedBy(sender), receivedBy(sender)])
  await expectCounts(sender, [{ ...none, received: 3 }])
})

test('what the owner writes on the phone does not count', async () => {
  const sender = await addSender()
  await insertReceivedMessages(owned.db, [receivedBy(sender, { writtenOn: 'phone' })])
  await expectCounts(sender, [])
})

test('a former owner counts nothing', async () => {
  const sender = await addSender()
  const former = { ...sender, fence: { ...sender.fence, epoch: sender.fence.epoch - 1 } }
  await recordOutcomes(owned.db, [outcomeOf(former, await addSending(sender), 'sent')])
  await insertReceivedMessages(owned.db, [receivedBy(former)])
  await expectCounts(sender, [])
})

const lock = (sql: postgres.ISql, { sender }: Sender) =>
  sql`SELECT FROM message_counts WHERE sender = ${sender} FOR UPDATE NOWAIT`

test('a statement locks counts in the order of their key, so that no two of them wait for each other', async () => {
  const [first, second] = [await addSender(), await addSender()]
  const count = async () => {
    const outcomes = [
      outcomeOf(second, await addSending(second), 'sent'),
      outcomeOf(first, await addSending(first), 'sent'),
    ]
    await recordOutcomes(owned.db, outcomes)
  }
  await count()
  let counting: Promise<void> | undefined
  await owned.db.$client.begin(async (other) => {
    await lock(other, second)
    counting = count()
    // A transaction sees the activity of its beginning.
    await until('it waits', async () => {
      const waiting = await owned.db.$client`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return waiting.length === 1
    })
    await expect(lock(owned.db.$client, first)).rejects.toThrow('could not obtain lock')
  })
  await counting
  for (const sender of [first, second]) await expectCounts(sender, [{ ...none, sent: 2 }])
})

test('concurrent statements about the same senders, in any order, lose no count', async () => {
  const group = await Promise.all(Array.from({ length: 6 }, addSender))
  const rounds = 20
  await Promise.all(
    Array.from({ length: rounds }, async (_, round) => {
      const turned = [...group.slice(round % 6), ...group.slice(0, round % 6)]
      if (round % 2 === 0) turned.reverse()
      const outcomes = await Promise.all(
        turned.map(async (sender) => outcomeOf(sender, await addSending(sender), 'delivered')),
      )
      await Promise.all([
        recordOutcomes(owned.db, outcomes),
        insertReceivedMessages(
          owned.db,
          turned.map((sender) => receivedBy(sender)),
        ),
      ])
    }),
  )
  for (const sender of group)
    await expectCounts(sender, [{ ...none, sent: rounds, delivered: rounds, received: rounds }])
})
