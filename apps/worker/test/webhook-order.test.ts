import { formatEventId } from '@wagate/shared/event-ids'
import type { EventRow } from '@wagate/shared/objects/event-object'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { concludeRound, type Outcome } from '../src/webhooks/conclude-round.ts'
import { type DeliveryRequest, makeRequest, makeRequests } from '../src/webhooks/delivery-request.ts'
import { deliverInOrder } from '../src/webhooks/round.ts'

/** One event for each device of the list. */
const eventsOf = (deviceIds: number[]): EventRow[] =>
  deviceIds.map((deviceId, index) => ({
    position: { epoch: 0, tx: '9', id: String(index + 1), seconds: 1 },
    type: 2,
    deviceId,
    messageId: null,
    message: undefined,
    device: undefined,
    data: null,
    at: '2026-01-01T00:00:00.000Z',
    createdAt: '2026-01-01T00:00:00.000Z',
  }))

const someEvents = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 30 }).map(eventsOf)
const eventsMax = fc.integer({ min: 1, max: 4 })

test('every request is sent once, those of a subject in order and one at a time', async () => {
  await fc.assert(
    fc.asyncProperty(someEvents, eventsMax, fc.scheduler(), async (events, perRequest, scheduler) => {
      const requests = makeRequests(events, perRequest)
      const started: DeliveryRequest[] = []
      const inFlight = new Set<DeliveryRequest>()
      const delivered = deliverInOrder(requests, {
        concurrency: 4,
        mayStart: () => true,
        async send(request) {
          const busy = new Set([...inFlight].flatMap(({ subjects }) => [...subjects]))
          expect([...request.subjects].filter((subject) => busy.has(subject))).toEqual([])
          inFlight.add(request)
          expect(inFlight.size).toBeLessThanOrEqual(4)
          started.push(request)
          await scheduler.schedule(Promise.resolve())
          inFlight.delete(request)
        },
      })
      await scheduler.waitFor(delivered)
      expect(new Set(started)).toEqual(new Set(requests))
      for (const { deviceId } of events) {
        const sent = started.flatMap((request) =>
          request.events.filter((event) => event.deviceId === deviceId),
        )
        expect(sent).toEqual(events.filter((event) => event.deviceId === deviceId))
      }
    }),
  )
})

const someOutcomes = fc.array(
  fc.constantFrom<Outcome['result'] | undefined>('taken', 'failed', 'gone', undefined),
  { minLength: 30, maxLength: 30 },
)

test('the position passes no event that was neither taken nor parked', () => {
  fc.assert(
    fc.property(someEvents, eventsMax, someOutcomes, (events, perRequest, results) => {
      const stream = makeRequests(events, perRequest)
      const outcomeOf = (request: DeliveryRequest): Outcome | undefined => {
        const result = results[stream.indexOf(request)]
        return result && { result, retryAfterMs: undefined }
      }
      const streamEnd = { epoch: 0, tx: '10', id: '0', seconds: 1 }
      const { position, parked } = concludeRound({ stream, streamEnd, stored: [], outcomeOf }, [1000])
      const passed = position ? events.filter((event) => isUpTo(event, position)) : []
      const safe = stream.filter((request) => outcomeOf(request)?.result === 'taken').flatMap(idsOf)
      const parkedIds = parked.flatMap(({ eventIds }) => eventIds)
      expect([...safe, ...parkedIds]).toEqual(
        expect.arrayContaining(passed.map(({ position }) => formatEventId(position))),
      )
      // Those behind it are delivered again, so they are not parked.
      expect(
        parkedIds.filter((id) => !passed.some(({ position }) => formatEventId(position) === id)),
      ).toEqual([])
    }),
  )
})

const idsOf = ({ eventIds }: DeliveryRequest) => eventIds
const isUpTo = ({ position }: EventRow, end: EventRow['position']) =>
  formatEventId(position) <= formatEventId(end)

test('a stored delivery is done when it was taken, repeated when it failed, and kept otherwise', () => {
  const requests = (['taken', 'failed', 'gone', undefined] as const).map((result, index) => ({
    result,
    request: makeRequest(eventsOf([1]), { attempts: 1, deliveryId: String(index) }),
  }))
  const outcomeOf = (request: DeliveryRequest): Outcome | undefined => {
    const result = requests.find((one) => one.request === request)?.result
    return result && { result, retryAfterMs: undefined }
  }
  const stored = requests.map(({ request }) => request)
  expect(
    concludeRound({ stream: [], streamEnd: undefined, stored, outcomeOf }, [10, 1000], () => 0.5),
  ).toMatchObject({
    position: undefined,
    done: ['0'],
    repeated: [{ id: '1', attempts: 2, delayMs: 1000 }],
    result: 'succeeded',
  })
})

type Contact = { number: string; contactJid?: string }

/** As the messages of one conversation name them. */
const sameContact: { [name: string]: [Contact, Contact] } = {
  'a Brazilian number with and without its digit': [{ number: '5511985501000' }, { number: '551185501000' }],
  'a Mexican number with and without its digit': [{ number: '5215512345678' }, { number: '525512345678' }],
  'an Argentinian number with and without its digit': [
    { number: '5491123456789' },
    { number: '541123456789' },
  ],
  'a LID before its number is known': [
    { number: '', contactJid: '77001@lid' },
    { number: '4915100000001', contactJid: '77001@lid' },
  ],
  'a number, and its address': [
    { number: '551185501000' },
    { number: '', contactJid: '5511985501000@s.whatsapp.net' },
  ],
}

const subjectsOf = (contact: Contact, deviceId = 1) => {
  const [event] = eventsOf([deviceId])
  const message = { ...contact, contactJid: contact.contactJid ?? null, deviceId } as EventRow['message']
  return makeRequest(event ? [{ ...event, messageId: 'some', message }] : []).subjects
}
const areShared = (one: ReadonlySet<string>, other: ReadonlySet<string>) =>
  [...one].some((subject) => other.has(subject))

test.each(Object.entries(sameContact))('one conversation is one subject: %s', (_, [one, other]) => {
  expect(areShared(subjectsOf(one), subjectsOf(other))).toBe(true)
  expect(areShared(subjectsOf(one), subjectsOf(other, 2))).toBe(false)
})

test('messages of the phone, of the gateway and changes of unknown messages of one conversation are one subject', () => {
  const changed = (data: EventRow['data'], deviceId = 1) =>
    makeRequest(eventsOf([deviceId]).map((event) => ({ ...event, data }))).subjects
  const change = { waId: 'A1', number: '4915100000001', target: 'B2', fromMe: true, byMe: true }
  const ofGateway = subjectsOf({ number: '4915100000001', contactJid: '77001@lid' })
  const ofPhone = subjectsOf({ number: '', contactJid: '77001@lid' })
  const others = [changed(change), changed({ ...change, number: '', contactJid: '77001@lid' }), ofPhone]
  for (const subjects of others) expect(areShared(subjects, ofGateway)).toBe(true)
  expect(areShared(changed(change, 2), ofGateway)).toBe(false)
  expect(areShared(changed({ ...change, number: '4915100000002' }), ofGateway)).toBe(false)
  expect([...changed(null)]).toEqual(['device 1'])
  expect([...changed({ ...change, number: '' })]).toEqual(['device 1'])
})

test('other contacts are other subjects', () => {
  const contacts = [
    { number: '5511985501000' },
    { number: '5511985501001' },
    { number: '', contactJid: '77001@lid' },
    { number: '77001' },
    { number: '', contactJid: '77002@lid' },
  ].map((contact) => subjectsOf(contact))
  for (const [index, one] of contacts.entries()) {
    for (const other of contacts.slice(index + 1)) expect(areShared(one, other)).toBe(false)
  }
})

test('an id belongs to its events only', () => {
  const [first, second, third] = eventsOf([1, 2, 3])
  const idOf = (...events: (EventRow | undefined)[]) => makeRequest(events.flatMap((event) => event ?? [])).id
  expect(idOf(first)).toBe(first && formatEventId(first.position))
  expect(idOf(first, second)).toBe(idOf(first, second))
  expect(idOf(first, second)).not.toBe(idOf(first, third))
})
