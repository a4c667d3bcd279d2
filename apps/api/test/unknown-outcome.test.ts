import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type CuttableGateway, createSender, startCuttableGateway, storedOf } from './gateway.ts'

type Hold = (chunk: Buffer, from: { connection: number; isAnswer: boolean }) => Promise<unknown> | undefined
type Sender = Awaited<ReturnType<typeof createSender>>

const nothing: Hold = () => undefined
const marker = 'the only file with these words'

let gateway: CuttableGateway
/** Delays what passes between the API and Postgres. */
let hold = nothing
beforeAll(async () => {
  gateway = await startCuttableGateway({}, { hold: (...given) => hold(...given) })
})
afterEach(() => {
  hold = nothing
})
afterAll(() => gateway.close())

function send({ account, sender }: Sender, fields: Record<string, unknown> = {}) {
  const url = `data:text/plain;base64,${Buffer.from(marker).toString('base64')}`
  return account.post('/send-media', { sender, number: '4915199999999', type: 'document', url, ...fields })
}

/** Postgres gets the file, and its answer is lost. */
function loseAnswerToFile(): void {
  let storingOn = 0
  hold = (chunk, { connection, isAnswer }) => {
    if (!isAnswer && chunk.includes(marker)) storingOn = connection
    return isAnswer && connection === storingOn ? new Promise(() => undefined) : undefined
  }
}

test('a 503 for a file names a key with which the message that was stored is found', async () => {
  const tenant = await createSender(gateway)
  loseAnswerToFile()
  const refused = await send(tenant)
  hold = nothing
  expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect(refused.body.idempotency_key).toEqual(expect.stringMatching(/^[\w-]{36}$/))
  const again = await send(tenant, { idempotency_key: refused.body.idempotency_key })
  expect(again.status).toBe(200)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(await storedOf(tenant.account)).toHaveLength(1)
})

test('a 503 for a file that was not stored names a key with which it is stored once', async () => {
  const tenant = await createSender(gateway)
  const { refused } = await gateway.db.$client.begin(async (sql) => {
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`
    await sql`LOCK TABLE media_blobs`
    return { refused: await send(tenant) }
  })
  expect(refused.status).toBe(503)
  const more = { idempotency_key: refused.body.idempotency_key }
  const [first, again] = [await send(tenant, more), await send(tenant, more)]
  expect(first).toMatchObject({ status: 200, body: { message_id: again.body.message_id } })
  expect(first.headers.get('idempotent-replayed')).toBeNull()
  expect(await storedOf(tenant.account)).toHaveLength(1)
})

test('no key is named to a caller with one, nor for a refusal that stores nothing', async () => {
  const tenant = await createSender(gateway)
  loseAnswerToFile()
  const refused = await send(tenant, { idempotency_key: 'mine' })
  hold = nothing
  expect(refused.status).toBe(503)
  expect(refused.body).not.toHaveProperty('idempotency_key')
  expect((await send(tenant, { idempotency_key: 'mine' })).status).toBe(200)
  const unknown = await send({ ...tenant, sender: '4915100000001' })
  expect(unknown.status).toBe(404)
  expect(unknown.body).not.toHaveProperty('idempotency_key')
  expect(await storedOf(tenant.account)).toHaveLength(1)
})
