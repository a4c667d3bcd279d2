import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

const unit = 64 * 1024
const mediaBytesMax = 24 * unit

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner({ MEDIA_WAITING_BYTES_MAX: String(mediaBytesMax) })
})
afterAll(() => gateway.close())

type Sender = Awaited<ReturnType<typeof createSender>>

function send({ account, sender }: Sender, bytes: number, fields: Record<string, unknown> = {}) {
  const url = `data:application/pdf;base64,${Buffer.alloc(bytes).toString('base64')}`
  const given = { sender, number: '4915199999999', type: 'document', url, ...fields }
  return account.post('/send-media', given)
}

async function usedBytes({ account }: Sender): Promise<number> {
  const [row] = await gateway.db.$client<{ used: number; counted: number }[]>`
    SELECT bytes::float8 AS used,
      (SELECT coalesce(sum(octet_length(bytes)), 0)::float8 FROM media_blobs WHERE account_id = ${account.userId}) AS counted
    FROM media_usage WHERE account_id = ${account.userId}`
  expect(row?.used).toBe(row?.counted)
  return row?.used ?? 0
}

const queueFull = { status: 429, body: { code: 'queue_full' } }
const inAMonth = () => ({ send_at: new Date(Date.now() + 29 * 86_400_000).toISOString() })

test('waiting bytes are limited per account, scheduled ones included, without affecting other accounts', async () => {
  const [tenant, other] = [await createSender(gateway), await createSender(gateway)]
  const first = await send(tenant, 10 * unit, { ...inAMonth(), idempotency_key: 'first' })
  expect(first).toMatchObject({ status: 200, body: { status: 'scheduled' } })
  expect((await send(tenant, 10 * unit)).status).toBe(200)
  const refused = await send(tenant, 5 * unit)
  expect(refused).toMatchObject(queueFull)
  expect(refused.headers.get('retry-after')).toBe('10')
  // Another sender of the account cannot exceed the limit either.
  const { body } = await tenant.account.post('/create-device', { sender: '4915155555555' })
  await gateway.db.$client`
    UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = 1 WHERE id = ${Number(body.device_id)}`
  expect(await send({ ...tenant, sender: '4915155555555' }, 5 * unit)).toMatchObject(queueFull)
  // Smaller files, texts, URLs and replays are still accepted.
  expect((await send(tenant, 3 * unit)).status).toBe(200)
  const again = await send(tenant, 10 * unit, { idempotency_key: 'first' })
  expect(again).toMatchObject({ status: 422 })
  expect((await send(tenant, 1, { url: 'https://example.com/a.pdf' })).status).toBe(200)
  expect((await send(other, 10 * unit)).status).toBe(200)
  expect(await usedBytes(tenant)).toBe(23 * unit)
})

test('canceled, sent and failed messages free their bytes', async () => {
  const tenant = await createSender(gateway)
  const ids: string[] = []
  for (let n = 0; n < 3; n++) {
    ids.push(String((await send(tenant, 7 * unit, inAMonth())).body.message_id))
  }
  expect(await send(tenant, 7 * unit)).toMatchObject(queueFull)
  const [canceled = '', sent = '', failed = ''] = ids
  await tenant.account.post('/cancel-message', { message_id: canceled })
  expect((await send(tenant, 7 * unit)).status).toBe(200)
  // Acts as an owner after the upload.
  await gateway.db.$client`DELETE FROM media_blobs WHERE message_id = ${sent}`
  expect((await send(tenant, 7 * unit)).status).toBe(200)
  expect(await usedBytes(tenant)).toBe(21 * unit)

  const otherTenant = await createSender(gateway)
  await send(otherTenant, 16 * unit)
  await gateway.db
    .$client`UPDATE messages SET status = 'failed' WHERE device_id IN (${tenant.deviceId}, ${otherTenant.deviceId}) AND id <> ${failed}`
  // The media of a failed message stays stored until a request needs its room.
  expect((await send(otherTenant, 16 * unit)).status).toBe(200)
  expect(await usedBytes(otherTenant)).toBe(16 * unit)
})

test('concurrent requests exceed the limit by no more than what arrives at the same time', async () => {
  const tenant = await createSender(gateway)
  const answers = await Promise.all(Array.from({ length: 12 }, () => send(tenant, 4 * unit)))
  const accepted = answers.filter(({ status }) => status === 200)
  for (const { status } of answers) expect([200, 429, 503]).toContain(status)
  expect(await usedBytes(tenant)).toBe(accepted.length * 4 * unit)
  // A process parses one large body of an account at a time.
  expect(accepted.length).toBeLessThanOrEqual(6)
})
