import { setTimeout as delay } from 'node:timers/promises'
import { auditHistory } from '@wagate/test-kit/load/history'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { startLoad } from '@wagate/test-kit/load/load'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { isFinished } from '@wagate/test-kit/load/records'
import { makeRandom } from '@wagate/test-kit/random'
import { openSystem } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectAgreement } from '../oracle.ts'
import { startPeople } from '../people.ts'

const senders = senderNumbers(3, 30)
const absent = '15550309999'
const random = makeRandom(1)

let system: Awaited<ReturnType<typeof openSystem>>

beforeAll(async () => {
  system = await openSystem({ workers: 1, shards: 4 })
  await linkSenders(system, senders)
}, 60_000)

afterAll(() => system?.close(), 30_000)

it('what clients were told, what the database says and what phones show is the same', async () => {
  const { gateway, phones, records } = system
  await phones.fault({ kind: 'not_on_whatsapp', number: absent })
  // A receipt would correct what was recorded wrongly before it.
  await phones.fault({ kind: 'no_receipts', share: 0.5 })
  const startedAtMs = Date.now()
  const before = await phones.stats()
  const load = startLoad(gateway, {
    senders,
    perSecond: 60,
    name: 'agreement',
    random,
    mix: { media: 0.1, scheduled: 0.1, canceled: 0.2 },
    furtherRecipients: (sender) => (sender === senders[0] ? [absent] : []),
  })
  const people = startPeople({ phones, random, senders }, load, { perSecond: 60, name: 'agreement' })
  await delay(4000)
  await until('people have written', () => people.written.length > 10)
  await load.stop()
  await people.stop()
  await until('every message is finished', { withinMs: 60_000, everyMs: 200 }, async () =>
    (await records.listMessagesSince(startedAtMs)).every(isFinished),
  )

  // On a busy machine the people may have found nothing to open while the load went on.
  for (const { waId, number, status } of await records.listMessagesSince(startedAtMs))
    if (status === 'delivered' && random() < 0.2 && (await phones.read(number, waId))) people.opened.add(waId)
  const { violations } = auditHistory(
    load.sent,
    await records.listMessagesSince(startedAtMs),
    await phones.log(),
    people.opened,
  )
  expect(Object.values(violations).flat()).toEqual([])
  const isAbsent = (number: string) => number === absent
  await expectAgreement({ phones, records, isAbsent }, 'agreement', {
    startedAtMs,
    logged: 0,
    before,
    people,
  })
  // Each of them means something only when it was there.
  const kinds = new Set(load.sent.filter(({ messageId }) => messageId).map(({ kind }) => kind))
  expect([...kinds].sort()).toEqual(['canceled', 'media', 'scheduled', 'text'])
  const messages = await records.listMessagesSince(startedAtMs)
  const statuses = new Set(messages.map(({ status }) => status))
  expect([...statuses].sort()).toEqual(['canceled', 'delivered', 'failed', 'read', 'sent'])
  expect(people.written.length).toBeGreaterThan(10)
}, 120_000)
