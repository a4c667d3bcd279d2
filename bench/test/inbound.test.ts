import { expect, it } from 'vitest'
import { auditReceived, type ReceivedAudit } from '../src/inbound/audit-received.ts'
import type { Written } from '../src/inbound/phone-writer.ts'
import type { ReadEvent } from '../src/subscribers/read-event.ts'

const sender = '15550000001'

const written = (text: string, contact = '15550000002'): Written => ({
  waId: `wa ${text}`,
  sender,
  contact,
  text,
  askedAtMs: 0,
})

const stored = (text: string) => ({ waId: `wa ${text}`, sender, body: text })

const read = (text: string): ReadEvent => ({
  eventId: `evt ${text}`,
  recordedAtMs: 0,
  readAtMs: 0,
  message: { waId: `wa ${text}`, sender, text },
})

const none = {
  notStoredOnce: [],
  notToldOnce: [],
  notDelivered: [],
  storedLate: [],
  toldLate: [],
  deliveredLate: [],
}

type Order = Partial<Record<'stored' | 'told' | 'delivered', string[]>>

function audit(all: Written[], order: Order) {
  const texts = all.map(({ text }) => text)
  return auditReceived({
    written: all,
    stored: (order.stored ?? texts).map(stored),
    told: (order.told ?? texts).map(read),
    delivered: (order.delivered ?? texts).map(read),
  })
}

it('finds nothing when each message is everywhere once, in the order of its contact', () => {
  const all = [written('a'), written('b', '15550000003'), written('c')]
  const order = ['b', 'a', 'c']
  expect(audit(all, { stored: order, told: order, delivered: order })).toEqual(none)
})

it.each<{ what: string; order: Order; found: Partial<ReceivedAudit> }>([
  { what: 'lost', order: { stored: ['a', 'c'] }, found: { notStoredOnce: ['b'] } },
  { what: 'stored twice', order: { stored: ['a', 'b', 'b', 'c'] }, found: { notStoredOnce: ['b'] } },
  { what: 'stored late', order: { stored: ['a', 'c', 'b'] }, found: { storedLate: ['b'] } },
  { what: 'not in the stream', order: { told: ['a', 'c'] }, found: { notToldOnce: ['b'] } },
  { what: 'twice in the stream', order: { told: ['a', 'b', 'b', 'c'] }, found: { notToldOnce: ['b'] } },
  { what: 'late in the stream', order: { told: ['b', 'c', 'a'] }, found: { toldLate: ['a'] } },
  { what: 'not delivered', order: { delivered: ['a', 'b'] }, found: { notDelivered: ['c'] } },
  { what: 'delivered late', order: { delivered: ['a', 'c', 'b'] }, found: { deliveredLate: ['b'] } },
])('names a message that is $what', ({ order, found }) => {
  expect(
    audit(
      ['a', 'b', 'c'].map((text) => written(text)),
      order,
    ),
  ).toEqual({ ...none, ...found })
})

it('does not take a message of the same id and another text for the one that was written', () => {
  const other = { ...read('a'), message: { waId: 'wa a', sender, text: 'another' } }
  const facts = { written: [written('a')], stored: [stored('a')], told: [other], delivered: [read('a')] }
  expect(auditReceived(facts)).toEqual({ ...none, notToldOnce: ['a'] })
})
