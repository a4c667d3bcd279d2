import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { type MessageChange, recordMessageChanges } from '../src/queries/message-changes.ts'
import { claimFirstMessages, claimMessages } from '../src/queries/message-claims.ts'
import { recordOutcomes } from '../src/queries/message-outcomes.ts'
import { listNextMessages } from '../src/queries/next-messages.ts'
import { insertReceivedMessages, isReceived, type ReceivedMessage } from '../src/queries/received-messages.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'
import { countReads } from './table-reads.ts'

const stored = 4000
let db: Database
let accountId: number
let drop: () => Promise<void>
let device: OwnedDevice

beforeAll(async () => {
  // One connection, which has all prepared statements.
  const database = await openOwnedDevices({ poolSize: 1 })
  ;({ db, accountId, drop } = database)
  device = await database.addLinkedDevice()
  // Postgres keeps these plans until it has counted the rows again.
  for (const run of Object.values(statements)) await countReads(db, run)
  await insert(stored, { direction: 'in', status: 'received' })
  await insert(stored, { direction: 'out', status: 'delivered' })
  await recordMessageChanges(db, Array.from({ length: stored }, reaction))
})
afterAll(() => drop())

type Row = { id: string; createdAt: string }

async function insert(
  count: number,
  { direction, status }: { direction: string; status: string },
): Promise<Row[]> {
  const ids = Array.from({ length: count }, () => makeMessageId('1'))
  return db.$client<Row[]>`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
      link_generation)
    SELECT id, ${accountId}, ${device.deviceId}, ${direction}, 'text', '1', '3', 'x', ${status}, id, 1
    FROM unnest(${ids}::uuid[]) AS given (id)
    RETURNING id, created_at::text AS "createdAt"`
}

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
  await listNextMessages(db, [{ deviceId: device.deviceId, except: [] }])
  await claim(db, [{ ...message, fence: device.fence, recipientJid: 'jid', setback: null }])
  const outcome = { ...device, messageId: message.id, at: new Date().toISOString() }
  await recordOutcomes(db, [{ ...outcome, status: 'sent' }])
  await recordOutcomes(db, [{ ...outcome, status: 'delivered' }])
}

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

test.each(Object.entries(statements))('%s reads little in a week that has just begun', async (_, run) => {
  expect(await countReads(db, run)).toBeLessThan(100)
  expect(await countReads(db, run, { table: 'events', isScanCounted: true })).toBeLessThan(100)
})
