import { makeMessageId } from '@wagate/shared/ids'
import { whileLocked } from '@wagate/test-kit/servers/while-locked'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createSender, type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

/** Blocks reads of all partitions, or of one of 2020, until it resolves. Sends only write the partition of this week. */
async function whileReadsWait(work: () => Promise<void>): Promise<void> {
  await gateway.db.$client.unsafe(
    `CREATE TABLE IF NOT EXISTS messages_2020 PARTITION OF messages FOR VALUES FROM ('2020-01-02') TO ('2020-01-09')`,
  )
  await whileLocked(gateway.db, 'messages_2020 IN ACCESS EXCLUSIVE MODE', work)
}

/** Of the read connections, or of all connections of the API. */
async function countWaiting(application: 'wagate-api reads' | 'wagate-api%'): Promise<number> {
  const waiting = await gateway.db.$client`
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE ${application} AND wait_event_type = 'Lock'`
  return waiting.length
}

async function expectSends({ account, sender }: Awaited<ReturnType<typeof createSender>>): Promise<void> {
  const message = { sender, number: '4915188888888', message: 'x' }
  const sends = Array.from({ length: 5 }, () => account.post('/send-message', message))
  for (const { status } of await Promise.all(sends)) expect(status).toBe(200)
}

test('slow pages of one account delay neither sends nor pages of another account', async () => {
  const [heavy, other] = [await createSender(gateway), await createSender(gateway)]
  const answered: number[] = []
  let pages: ReturnType<typeof heavy.account.get>[] = []
  await whileReadsWait(async () => {
    pages = Array.from({ length: 40 }, () => heavy.account.get('/messages'))
    for (const page of pages) void page.then(({ status }) => answered.push(status))

    const refused = await Promise.race(pages)
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    await vi.waitFor(async () => expect(await countWaiting('wagate-api reads')).toBe(1), eventually)
    void other.account.get('/messages')
    await vi.waitFor(async () => expect(await countWaiting('wagate-api reads')).toBe(2), eventually)
    await expectSends(other)
    expect((await other.account.get('/devices')).status).toBe(200)
    // The reads that were not refused still wait for Postgres.
    expect(answered.filter((status) => status !== 429)).toEqual([])
  })
  const codes = (await Promise.all(pages)).map(({ status }) => status)
  expect(codes.filter((code) => code === 429)).toHaveLength(19)
  expect(await other.account.get('/messages')).toMatchObject({ status: 200 })
})

test('any number of slow reads delays no send', async () => {
  const [heavy, other] = [await createSender(gateway), await createSender(gateway)]
  const old = makeMessageId(heavy.sender, Date.parse('2020-01-04'))
  await whileReadsWait(async () => {
    for (let n = 0; n < 40; n++) void heavy.account.get('/message-status', { message_id: old })
    await vi.waitFor(async () => expect(await countWaiting('wagate-api%')).toBeGreaterThan(1), eventually)
    await expectSends(other)
  })
})
