import type { NewMessage } from '@wagate/db/queries/messages/accept-messages'
import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeMessages } from '../src/messages/store-messages.ts'
import { createSender, type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway
let sender: Awaited<ReturnType<typeof createSender>>
beforeAll(async () => {
  gateway = await startGateway()
  sender = await createSender(gateway)
})
afterAll(() => gateway.close())

const limits = { mediaBytesMax: 2 ** 30 }

test('an invalid row of a batch fails alone, and the others keep their order', async () => {
  const bodies = ['one', 'two', 'bad \0 row', 'three', 'four']
  const outcomes = await storeMessages(
    gateway.db,
    bodies.map((body) => arrival({ body })),
    limits,
  )
  expect(outcomes.map(({ outcome }) => outcome)).toEqual([
    'accepted',
    'accepted',
    'failed',
    'accepted',
    'accepted',
  ])
  const rows = await gateway.db.$client<{ body: string }[]>`
    SELECT body FROM messages WHERE device_id = ${sender.deviceId} ORDER BY seq`
  expect(rows.map(({ body }) => body)).toEqual(['one', 'two', 'three', 'four'])
})

test('a request that has timed out is not stored, but its duplicate is', async () => {
  const idempotency = {
    operation: 'send-message',
    key: 'k',
    payloadHash: Buffer.from('x').toString('base64'),
  }
  const gone = { ...arrival({ idempotency }), deadline: { isOver: true } }
  const arrivals = [gone, arrival({ idempotency }), arrival({ idempotency })]
  const outcomes = await storeMessages(gateway.db, arrivals, limits)
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['failed', 'accepted', 'replayed'])
})

test('an empty batch needs no statement', async () => {
  const gone = { ...arrival({}), deadline: { isOver: true } }
  expect(await storeMessages(gateway.db, [gone], limits)).toMatchObject([{ outcome: 'failed' }])
})

function arrival(given: Partial<NewMessage>) {
  const id = makeMessageId(sender.sender)
  const message: NewMessage = {
    id,
    waId: whatsAppIdOf(id),
    accountId: sender.account.userId,
    sender: sender.sender,
    number: '4915199999999',
    type: 'text',
    body: 'x',
    url: null,
    filename: null,
    sendAt: null,
    media: null,
    idempotency: null,
    ...given,
  }
  return { message, deadline: { isOver: false } }
}
