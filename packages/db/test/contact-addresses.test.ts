import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../src/client.ts'
import type { ReceivedSource } from '../src/queries/messages/known-messages.ts'
import { insertReceivedMessages, isReceived } from '../src/queries/messages/received-messages.ts'
import { listWaitingMessages } from '../src/queries/messages/waiting-messages.ts'
import type { Fence } from '../src/queries/statements/fence.ts'
import { openOwnedDevices } from './owned-devices.ts'

const sender = '4915100000000'
let db: Database
let devices: Awaited<ReturnType<typeof openOwnedDevices>>
let fence: Fence
let deviceId = 0

beforeAll(async () => {
  devices = await openOwnedDevices()
  db = devices.db
})
afterAll(() => devices.drop())
beforeEach(async () => {
  ;({ deviceId, fence } = await devices.addDevice())
  await db.$client`
    UPDATE devices SET desired = 'linked', link_generation = 1, has_credentials = true WHERE id = ${deviceId}`
})

const pn = '4915112345678'
const lid = '1000000000000017@lid'

function receive(...sources: ReceivedSource[]) {
  const common = {
    fence,
    accountId: devices.accountId,
    deviceId,
    sender,
    type: 'text' as const,
    body: 'x',
    linkGeneration: 1,
  }
  return insertReceivedMessages(
    db,
    sources.map((source) => ({ ...common, id: randomUUID(), ...source })),
  )
}

const stored = () =>
  db.$client`
    SELECT number, recipient_jid AS "contactJid" FROM messages
    WHERE device_id = ${deviceId} AND direction = 'in' ORDER BY seq`

describe('a received message', () => {
  it.each<[string, Omit<ReceivedSource, 'waId'>, Omit<ReceivedSource, 'waId'>]>([
    [
      'first from its number, then from its LID',
      { number: pn, contactJid: lid },
      { number: null, contactJid: lid },
    ],
    [
      'first from its LID, then with its number',
      { number: null, contactJid: lid },
      { number: pn, contactJid: lid },
    ],
    ['first with its number only', { number: pn, contactJid: null }, { number: pn, contactJid: lid }],
    [
      'with a LID that an earlier version stored as the number',
      { number: '1000000000000017' },
      { number: null, contactJid: lid },
    ],
  ])('is stored once when it comes again, %s', async (_, first, again) => {
    await receive({ waId: 'A', ...first })
    expect(await isReceived(db, deviceId, { waId: 'A', ...again })).toBe(true)
    await receive({ waId: 'A', ...again })
    expect(await stored()).toHaveLength(1)
  })

  it('is told from those of other contacts whose clients chose the same id', async () => {
    const others = ['1000000000000018@lid', '1000000000000019@lid']
    await receive({ waId: 'A', number: null, contactJid: lid }, { waId: 'A', number: pn, contactJid: null })
    for (const contactJid of others) {
      expect(await isReceived(db, deviceId, { waId: 'A', number: null, contactJid })).toBe(false)
    }
    await receive(...others.map((contactJid) => ({ waId: 'A', number: null, contactJid })))
    expect(await stored()).toEqual([
      { number: lid, contactJid: lid },
      { number: pn, contactJid: null },
      ...others.map((contactJid) => ({ number: contactJid, contactJid })),
    ])
  })
})

describe('a known contact', () => {
  it.each([
    ['5511987654321', '551187654321'],
    ['5215512345678', '525512345678'],
    ['5491123456789', '541123456789'],
  ])('is the same in both forms of a number: %s and %s', async (long, short) => {
    await receive({ waId: 'A', number: short, contactJid: null })
    const others = ['5511912345678', '525511111111', '541122222222', '4915199999999']
    await insertWaiting([long, short, ...others])
    expect(await listContacts()).toEqual([long, short])
  })

  it('is the same when the long form is known', async () => {
    await receive({ waId: 'A', number: '5511987654321', contactJid: null })
    await insertWaiting(['551187654321', '551187654322'])
    expect(await listContacts()).toEqual(['551187654321'])
  })
})

async function insertWaiting(numbers: string[]): Promise<void> {
  for (const number of numbers) {
    await db.$client`
      INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id, link_generation)
      VALUES (gen_random_uuid(), ${devices.accountId}, ${deviceId}, 'out', 'text', ${sender}, ${number}, 'x', 'queued', 'X', 1)`
  }
}

async function listContacts(): Promise<string[]> {
  const query = { except: [], exceptNumbers: [], without: ['newContacts' as const], limit: 64 }
  return (await listWaitingMessages(db, deviceId, query)).map(({ number }) => number)
}
