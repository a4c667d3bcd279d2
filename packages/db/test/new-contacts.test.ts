import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../src/client.ts'
import { findDevice } from '../src/queries/devices/devices.ts'
import { claimFirstMessages } from '../src/queries/messages/message-claims.ts'
import { findSentToday } from '../src/queries/messages/sent-today.ts'
import { listWaitingMessages } from '../src/queries/messages/waiting-messages.ts'
import { beginning, deleteOldNewContacts } from '../src/queries/retention/housekeeping.ts'
import type { Fence } from '../src/queries/statements/fence.ts'
import { openOwnedDevices } from './owned-devices.ts'

let db: Database
let devices: Awaited<ReturnType<typeof openOwnedDevices>>
let accountId: number
let deviceId: number
let fence: Fence

beforeAll(async () => {
  devices = await openOwnedDevices()
  ;({ db, accountId } = devices)
  await db.$client.unsafe(
    `CREATE TABLE messages_long_ago PARTITION OF messages FOR VALUES FROM ('2020-01-01') TO ('${isoDay(-15)}')`,
  )
})
afterAll(() => devices.drop())

beforeEach(async () => {
  ;({ deviceId, fence } = await devices.addLinkedDevice())
})

const today = Math.floor(Date.now() / 86_400_000)
const isoDay = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

type Row = { direction?: 'in' | 'out'; sentDaysAgo?: number; ofDevice?: number }
type Stored = { id: string; createdAt: string }

/** A waiting message, unless it was sent or received. */
async function insert(
  number: string,
  { direction = 'out', sentDaysAgo, ofDevice = deviceId }: Row = {},
): Promise<Stored> {
  const status = direction === 'in' ? 'received' : sentDaysAgo === undefined ? 'queued' : 'sent'
  const [stored] = await db.$client<Stored[]>`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
      link_generation, created_at, sent_at)
    SELECT ${makeMessageId('1')}, ${accountId}, ${ofDevice}, ${direction}, 'text', '1', ${number}, 'x', ${status},
      ${randomUUID()}, 1, at, CASE WHEN ${status} = 'sent' THEN at END
    FROM (SELECT now() - ${sentDaysAgo ?? 0} * interval '1 day') AS time (at)
    RETURNING id, created_at::text AS "createdAt"`
  if (!stored) throw new Error('The message was not inserted')
  return stored
}

const claimAll = (messages: Stored[], given = fence) =>
  claimFirstMessages(
    db,
    messages.map((message) => ({ ...message, fence: given, recipientJid: 'jid', setback: null })),
  )
const listWithinBudget = () =>
  listWaitingMessages(db, deviceId, {
    except: [],
    exceptNumbers: [],
    without: ['newContacts'],
    withinBudget: true,
    limit: 9,
  })
const claim = async (message: Stored, given = fence) => (await claimAll([message], given))[0]

const listCounted = async () =>
  (
    await db.$client<{ number: string }[]>`
      SELECT number FROM new_contacts WHERE device_id = ${deviceId} ORDER BY number`
  ).map(({ number }) => number)

const age = (days: number) =>
  db.$client`
    UPDATE new_contacts SET created_at = created_at - ${days} * interval '1 day' WHERE device_id = ${deviceId}`

describe('a new contact', () => {
  it('counts once, however often its messages are claimed', async () => {
    const [first, second, other] = [await insert('1'), await insert('1'), await insert('2')]
    const counted = (number: string) => ({
      interruptions: 0,
      isOptedOut: false,
      countedToday: number,
      day: today,
    })
    expect(await claimAll([first, other])).toEqual([counted('1'), counted('2')])
    expect(await claimAll([first, second])).toEqual([counted('1'), counted('1')])
    expect(await listCounted()).toEqual(['1', '2'])
    expect((await findSentToday(db, deviceId, 0)).newContacts.sort()).toEqual(['1', '2'])
    expect(await findDevice(db, accountId, { deviceId }, 0)).toMatchObject({ newContactsUsed: 2 })
  })

  it('does not count without the fence, nor when its message was canceled', async () => {
    const [late, canceled] = [await insert('1'), await insert('2')]
    await db.$client`UPDATE messages SET status = 'canceled' WHERE id = ${canceled.id}`
    expect(await claim(late, { ...fence, epoch: fence.epoch - 1 })).toBeUndefined()
    expect(await claim(canceled)).toBeUndefined()
    expect(await listCounted()).toEqual([])
  })

  it('counts on the day of its first message only, also if WhatsApp refused that', async () => {
    const refused = await insert('1')
    await claim(refused)
    await db.$client`UPDATE messages SET status = 'failed' WHERE id = ${refused.id}`
    await age(1)
    expect(await claim(await insert('1'))).toEqual({
      interruptions: 0,
      isOptedOut: false,
      countedToday: null,
      day: today,
    })
    expect((await findSentToday(db, deviceId, 0)).newContacts).toEqual([])
    expect(await findDevice(db, accountId, { deviceId }, 0)).toMatchObject({ newContactsUsed: 0 })
  })

  it('counts again after 30 days without a message', async () => {
    await claim(await insert('1'))
    await age(31)
    expect(await claim(await insert('1'))).toMatchObject({ countedToday: '1' })
    expect(await listCounted()).toEqual(['1'])
    await claim(await insert('2'))
    await age(31)
    await deleteOldNewContacts(db, beginning)
    expect(await listCounted()).toEqual([])
  })

  it('counts once when one statement claims messages to both forms of its number', async () => {
    const both = [await insert('5511987654321'), await insert('551187654321')]
    const counted = { interruptions: 0, isOptedOut: false, countedToday: '551187654321', day: today }
    expect(await claimAll(both)).toEqual([counted, counted])
    expect(await listCounted()).toEqual(['551187654321'])
  })

  it('is not known for what another sender has written to it', async () => {
    const other = await devices.addLinkedDevice()
    await insert('1', { sentDaysAgo: 1, ofDevice: other.deviceId })
    expect(await claim(await insert('1'))).toMatchObject({ countedToday: '1' })
  })
})

describe('a known contact does not count', () => {
  it.each([
    ['WhatsApp accepted a message to it', (number: string) => insert(number, { sentDaysAgo: 29 })],
    ['it wrote', (number: string) => insert(number, { direction: 'in' })],
    [
      'it gave a privacy token',
      (number: string) => db.$client`
        INSERT INTO device_auth (device_id, type, id, value) VALUES (${deviceId}, 'token-holder', ${number}, '')`,
    ],
    [
      'it is known by a LID whose number was learnt later',
      (number: string) => db.$client`
        WITH known AS (
          INSERT INTO contacts (account_id, lid_jid, number) VALUES (${accountId}, '17@lid', ${number}) RETURNING lid_jid)
        INSERT INTO device_auth (device_id, type, id, value) SELECT ${deviceId}, 'token-holder', lid_jid, '' FROM known`,
    ],
  ])('when %s', async (_, meet) => {
    await meet('5511987654321')
    const both = [await insert('5511987654321'), await insert('551187654321')]
    expect(await listWithinBudget()).toHaveLength(both.length)
    for (const message of both) expect(await claim(message)).toMatchObject({ countedToday: null })
    expect(await listCounted()).toEqual([])
  })

  it('and is a new one after 30 days', async () => {
    await insert('1', { sentDaysAgo: 31 })
    expect(await claim(await insert('1'))).toMatchObject({ countedToday: '1' })
  })
})

it('a list within the budget has the messages to known contacts and to those that count', async () => {
  const list = async (query: { without?: ['newContacts']; withinBudget?: boolean }) => {
    const read = { except: [], exceptNumbers: [], without: [], limit: 9, ...query }
    const found = await listWaitingMessages(db, deviceId, read)
    return found.map(({ number, isToContact }) => [number, isToContact])
  }
  await insert('known', { sentDaysAgo: 1 })
  await claim(await insert('counted'))
  for (const number of ['new', 'known', 'counted']) await insert(number)
  expect(await list({ withinBudget: true })).toEqual([
    ['counted', true],
    ['known', true],
    ['counted', true],
  ])
  expect(await list({ withinBudget: true, without: ['newContacts'] })).toEqual([['known', true]])
  expect((await list({})).map(([, isToContact]) => isToContact)).toEqual([false, false, false, false])
})
