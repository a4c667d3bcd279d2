import { expect, it } from 'vitest'
import type { ReadEvent } from '../src/event-reader.ts'
import { auditReceived } from '../src/inbound/audit-received.ts'
import type { Written } from '../src/inbound/phone-writer.ts'

const sender = '15550000001'

const written = (text: string, contact = '15550000002'): Written => ({
  waId: `wa ${text}`,
  sender,
  contact,
  text,
  askedAtMs: 0,
})

const stored = (text: string) => ({ waId: `wa ${text}`, sender, body: text })

const told = (text: string): ReadEvent => ({
  eventId: `evt ${text}`,
  type: 'message.received',
  messageId: text,
  readAtMs: 0,
  message: { wa_message_id: `wa ${text}`, sender, message: text },
})

const nothing = { notStoredOnce: [], notToldOnce: [], storedLate: [], toldLate: [] }

it('finds nothing when each message is stored and told once, in the order of its contact', () => {
  const all = [written('a'), written('b', '15550000003'), written('c')]
  const order = ['b', 'a', 'c']
  expect(auditReceived({ written: all, stored: order.map(stored), told: order.map(told) })).toEqual(nothing)
})

it.each([
  { what: 'lost', texts: ['a', 'c'], found: { notStoredOnce: ['b'] } },
  { what: 'doubled', texts: ['a', 'b', 'b', 'c'], found: { notStoredOnce: ['b'] } },
  { what: 'overtaken', texts: ['a', 'c', 'b'], found: { storedLate: ['b'] } },
])('names a message that is $what in the history', ({ texts, found }) => {
  const all = ['a', 'b', 'c']
  const audit = auditReceived({
    written: all.map((text) => written(text)),
    stored: texts.map(stored),
    told: all.map(told),
  })
  expect(audit).toEqual({ ...nothing, ...found })
})

it.each([
  { what: 'lost', texts: ['a', 'c'], found: { notToldOnce: ['b'] } },
  { what: 'doubled', texts: ['a', 'b', 'b', 'c'], found: { notToldOnce: ['b'] } },
  { what: 'overtaken', texts: ['b', 'c', 'a'], found: { toldLate: ['a'] } },
])('names a message that is $what in the stream', ({ texts, found }) => {
  const all = ['a', 'b', 'c']
  const audit = auditReceived({
    written: all.map((text) => written(text)),
    stored: all.map(stored),
    told: texts.map(told),
  })
  expect(audit).toEqual({ ...nothing, ...found })
})

it('does not take a message of the same id and another text for the one that was written', () => {
  const audit = auditReceived({
    written: [written('a')],
    stored: [{ ...stored('a'), body: 'another' }],
    told: [told('a')],
  })
  expect(audit).toEqual({ ...nothing, notStoredOnce: ['a'] })
})
