import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

test('pages of one account that take long hold up no send and no page of another', async () => {
  const [heavy, other] = [await createSender(gateway), await createSender(gateway)]
  const sql = gateway.db.$client
  await sql.unsafe(
    `CREATE TABLE messages_2020 PARTITION OF messages FOR VALUES FROM ('2020-01-02') TO ('2020-01-09')`,
  )
  const blocker = await sql.reserve()
  await blocker`BEGIN`
  await blocker`SET LOCAL idle_in_transaction_session_timeout = 0`
  // Every page reads all weeks; a send only writes the present one.
  await blocker`LOCK TABLE messages_2020 IN ACCESS EXCLUSIVE MODE`
  const pages = Array.from({ length: 40 }, () => heavy.account.get('/messages'))

  const answered: number[] = []
  for (const page of pages) void page.then(({ status }) => answered.push(status))

  const refused = await Promise.race(pages)
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  const sends = Array.from({ length: 5 }, () =>
    other.account.post('/send-message', { sender: other.sender, number: '4915188888888', message: 'x' }),
  )
  for (const { status } of await Promise.all(sends)) expect(status).toBe(200)
  expect((await other.account.get('/devices')).status).toBe(200)
  // Those that were not refused still wait for the database.
  expect(answered.filter((status) => status !== 429)).toEqual([])

  await blocker`COMMIT`
  blocker.release()
  const codes = (await Promise.all(pages)).map(({ status }) => status)
  expect(codes.filter((code) => code === 429)).toHaveLength(19)
  expect(await other.account.get('/messages')).toMatchObject({ status: 200 })
})
