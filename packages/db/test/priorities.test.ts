import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import { type Priority, placeOf } from '@wagate/shared/priorities'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { findDeviceStates } from '../src/queries/devices/device-owner-view.ts'
import { setSenderPause } from '../src/queries/devices/sender-pause.ts'
import { acceptMessages } from '../src/queries/messages/accept-messages.ts'
import { claimMessages } from '../src/queries/messages/message-claims.ts'
import { failOverdueMessages, listOverdueMessages } from '../src/queries/messages/unsendable-messages.ts'
import {
  findLastWaiting,
  listNextMessages,
  listWaitingMessages,
} from '../src/queries/messages/waiting-messages.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'
import { countReads } from './table-reads.ts'

let database: Awaited<ReturnType<typeof openOwnedDevices>>
let db: Database
let device: OwnedDevice
let sender: string
let senders = 0

beforeAll(async () => {
  database = await openOwnedDevices({ poolSize: 1 })
  db = database.db
})
afterAll(() => database.drop())
beforeEach(async () => {
  senders += 1
  sender = String(4_915_200_000_000 + senders)
  device = await database.addLinkedDevice(sender)
})

type Given = { priority?: Priority; sendAt?: string | null; expiresInSeconds?: number | null }

async function accept(given: Given, number = '15550000001'): Promise<string> {
  const id = makeMessageId(sender)
  const { priority = 'normal', sendAt = null, expiresInSeconds = null } = given
  const [accepted] = await acceptMessages(
    db,
    [
      {
        id,
        waId: whatsAppIdOf(id),
        accountId: database.accountId,
        sender,
        number,
        type: 'text',
        body: 'x',
        sendAt,
        priority: placeOf(priority),
        expiresInSeconds,
        media: null,
        idempotency: null,
      },
    ],
    { mediaBytesMax: 1 },
  )
  expect(accepted?.outcome).toBe('accepted')
  return id
}

async function readNext(priority: Priority): Promise<string[]> {
  const read = { deviceId: device.deviceId, priority: placeOf(priority), except: [] }
  const [found = []] = await listNextMessages(db, [read])
  return found.map(({ id }) => id)
}

const usesPriorities = async () => (await findDeviceStates(db, [device.deviceId]))[0]?.usesPriorities

const inPast = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

test('each priority is read for itself, due scheduled messages included', async () => {
  const normal = await accept({})
  expect([await readNext('normal'), await usesPriorities()]).toEqual([[normal], false])
  const bulk = await accept({ priority: 'bulk' })
  expect(await usesPriorities()).toBe(true)
  const high = await accept({ priority: 'high' })
  const scheduled = await accept({ priority: 'high', sendAt: inPast(5) })
  await accept({ priority: 'high', sendAt: new Date(Date.now() + 60_000).toISOString() })
  expect(await readNext('high')).toEqual([high, scheduled])
  expect(await readNext('normal')).toEqual([normal])
  expect(await readNext('bulk')).toEqual([bulk])
  const query = { except: [], exceptNumbers: [], without: ['attempted' as const], limit: 64 }
  const past = await listWaitingMessages(db, device.deviceId, { ...query, priority: placeOf('high') })
  expect(past.map(({ id }) => id)).toEqual([high, scheduled])
})

describe('behind thousands of another priority', () => {
  test.each([false, true])(
    'a message is found without reading those (scheduled: %s)',
    async (isScheduled) => {
      const ids = Array.from({ length: 4000 }, () => makeMessageId(sender))
      const sendAt = isScheduled ? inPast(60) : null
      await db.$client`
      INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
        link_generation, priority, send_at)
      SELECT id, ${database.accountId}, ${device.deviceId}, 'out', 'text', ${sender}, n::text, 'x', 'queued', n::text,
        1, 2, ${sendAt}::timestamptz
      FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS given (id, n)`
      // As after years in which all were bulk messages.
      await db.$client`ANALYZE messages`
      const high = await accept({ priority: 'high', sendAt: isScheduled ? inPast(1) : null })
      const reads: Record<string, () => Promise<unknown>> = {
        next: async () => expect(await readNext('high')).toEqual([high]),
        'next of none': async () => expect(await readNext('normal')).toEqual([]),
        last: () => findLastWaiting(db, device.deviceId, placeOf('high')),
        past: () =>
          listWaitingMessages(db, device.deviceId, {
            except: [],
            exceptNumbers: [],
            without: [],
            limit: 64,
            priority: 0,
          }),
      }
      for (const [name, read] of Object.entries(reads))
        expect(await countReads(db, read), name).toBeLessThan(100)
    },
  )
})

const claim = async (id: string) => {
  const [row] = await db.$client<{ createdAt: string }[]>`
    SELECT created_at::text AS "createdAt" FROM messages WHERE id = ${id}`
  return claimMessages(db, [
    { fence: device.fence, id, createdAt: row?.createdAt ?? '', recipientJid: 'jid', setback: null },
  ])
}

describe('a message with an end', () => {
  const fail = async () => {
    const overdue = await listOverdueMessages(db, [device.fence.shard], 100)
    return failOverdueMessages(db, device.fence, overdue, 'Too late.')
  }
  const stateOf = async (id: string) => {
    const [row] = await db.$client<object[]>`
      SELECT status, error_code AS code, error FROM messages WHERE id = ${id}`
    return row
  }

  test('is not claimed after it, and fails once', async () => {
    const id = await accept({ expiresInSeconds: 5, sendAt: inPast(6) })
    const later = await accept({ expiresInSeconds: 5 })
    expect(await claim(id)).toEqual([undefined])
    expect([await fail(), await fail()]).toEqual([1, 0])
    const counts =
      await db.$client`SELECT error_code AS code, failed FROM message_counts WHERE sender = ${sender}`
    expect(counts).toEqual([{ code: 'message_expired', failed: 1 }])
    expect(await stateOf(id)).toEqual({ status: 'failed', code: 'message_expired', error: 'Too late.' })
    expect(await claim(later)).toEqual([{ interruptions: 0, isOptedOut: false }])
  })

  test('does not fail once it is claimed, and is sent again by the next owner', async () => {
    const id = await accept({ expiresInSeconds: 3600 })
    await claim(id)
    await db.$client`UPDATE messages SET expires_at = now() - interval '1 second' WHERE id = ${id}`
    expect(await listOverdueMessages(db, [device.fence.shard], 100)).toEqual([])
    expect(await claim(id)).toEqual([{ interruptions: 0, isOptedOut: false }])
  })

  test('that was listed and then claimed does not fail', async () => {
    const id = await accept({ expiresInSeconds: 5, sendAt: inPast(6) })
    const overdue = await listOverdueMessages(db, [device.fence.shard], 100)
    await db.$client`UPDATE messages SET status = 'sending' WHERE id = ${id}`
    expect(await failOverdueMessages(db, device.fence, overdue, 'x')).toBe(0)
  })

  test('only fails by its owner', async () => {
    await accept({ expiresInSeconds: 5, sendAt: inPast(6) })
    const overdue = await listOverdueMessages(db, [device.fence.shard], 100)
    expect(overdue).toHaveLength(1)
    const other = { ...device.fence, epoch: device.fence.epoch + 1 }
    await expect(failOverdueMessages(db, other, overdue, 'x')).rejects.toThrow('Another worker')
    expect(await listOverdueMessages(db, [device.fence.shard + 1], 100)).toEqual([])
  })
})

test('nothing is claimed for a paused sender, also while its owner does not know of the pause', async () => {
  const id = await accept({})
  const pause = (until: Date | null) =>
    setSenderPause(db, database.accountId, device.deviceId, { mode: 'hold', until })
  await pause(null)
  expect(await claim(id)).toEqual([undefined])
  await pause(new Date(Date.now() + 60_000))
  expect(await claim(id)).toEqual([undefined])
  await pause(new Date(Date.now() - 1000))
  expect(await claim(id)).toEqual([{ interruptions: 0, isOptedOut: false }])
})
