import { phoneJid } from '@wagate/shared/contact-key'
import { expect, test } from 'vitest'
import { makeInFlight } from '../src/outbox/in-flight.ts'
import { addressesOf } from '../src/outbox/recipient-lanes.ts'
import { makeMessage } from './waiting-rows.ts'

const recipient = '15550000001@s.whatsapp.net'
const message = (waId: string) => ({ waId, addresses: () => [recipient] })

test('counts a receipt of the recipient as an acknowledgement: the server must have taken the message', async () => {
  const inFlight = makeInFlight()
  const results = [
    inFlight.track(message('a'), 60_000),
    inFlight.track(message('b'), 60_000),
    inFlight.track(message('c'), 60_000),
  ]
  inFlight.resolve('a', { kind: 'acknowledged' })
  inFlight.resolve('b', { kind: 'delivered', saidBy: { jid: '77@lid', otherJid: recipient } })
  inFlight.resolve('c', { kind: 'refused', code: '463' })
  expect(await Promise.all(results)).toEqual([
    { kind: 'acknowledged' },
    { kind: 'acknowledged' },
    { kind: 'refused', code: '463' },
  ])
})

test('ignores receipts of anybody but the recipient', async () => {
  const inFlight = makeInFlight()
  const result = inFlight.track(message('a'), 60_000)
  const stranger = { jid: '15550000002@s.whatsapp.net', otherJid: null }
  expect(inFlight.resolve('a', { kind: 'read', saidBy: stranger })).toBe(false)
  inFlight.resolve('a', { kind: 'refused', code: '479' })
  expect(await result).toEqual({ kind: 'refused', code: '479' })
})

test('counts a receipt from the number of a LID, also when that was learnt meanwhile, and none of a stranger', async () => {
  const toLid = makeMessage(1, '17@lid', { recipientJid: '17@lid' })
  const inFlight = makeInFlight()
  const addresses = () => addressesOf({ message: toLid, recipient: '17@lid' })
  const result = inFlight.track({ waId: 'a', addresses }, 60_000)
  const delivered = (jid: string) => ({ kind: 'delivered' as const, saidBy: { jid, otherJid: null } })
  const [number, otherForm, stranger] = ['551187654321', '5511987654321', '5511987654322'].map(phoneJid)
  expect(inFlight.resolve('a', delivered(String(number)))).toBe(false)
  toLid.number = '551187654321'
  expect(inFlight.resolve('a', delivered(String(stranger)))).toBe(false)
  expect(inFlight.resolve('a', delivered(String(otherForm)))).toBe(true)
  expect(await result).toEqual({ kind: 'acknowledged' })
  const toNumber = makeMessage(2, '551187654321')
  expect(addressesOf({ message: toNumber, recipient: String(number) })).toEqual([number])
})

test('reports a message as unanswered after the timeout, and ignores a later answer', async () => {
  const inFlight = makeInFlight()
  expect(await inFlight.track(message('a'), 1)).toEqual({ kind: 'unanswered' })
  inFlight.resolve('a', { kind: 'acknowledged' })
})

test('resolves every message in flight when the socket is gone', async () => {
  const inFlight = makeInFlight()
  const results = [inFlight.track(message('a'), 60_000), inFlight.track(message('b'), 60_000)]
  inFlight.endAll('stream_ended')
  expect(await Promise.all(results)).toEqual([{ kind: 'stream_ended' }, { kind: 'stream_ended' }])
})
