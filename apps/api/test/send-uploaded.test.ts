import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeNoisePng } from '@wagate/test-kit/media/media-samples'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner, storedOf } from './gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'wagate-sent-uploads-'))
const mebibyte = 2 ** 20
const number = '4915199999999'
const picture = makeNoisePng(100)

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner({ MEDIA_FOLDER: folder, MEDIA_IMAGE_BYTES_MAX: String(mebibyte) })
})
afterAll(async () => {
  await gateway.close()
  rmSync(folder, { recursive: true })
})

type Sender = Awaited<ReturnType<typeof createSender>>

function upload({ account }: Sender, body: Buffer) {
  return account.request('/upload-media', { method: 'POST', body: new Uint8Array(body) })
}

function send({ account, sender }: Sender, media_id: unknown, fields: Record<string, unknown> = {}) {
  return account.post('/send-media', { sender, number, type: 'document', media_id, ...fields })
}

describe('send-media with a media_id', () => {
  test('refuses one of another account as one that does not exist', async () => {
    const [tenant, other] = [await createSender(gateway), await createSender(gateway)]
    const { body } = await upload(tenant, picture)
    const foreign = await send(other, body.media_id)
    const unknown = await send(other, randomUUID())
    expect(foreign).toMatchObject({ status: 404, body: { code: 'upload_not_found' } })
    expect({ ...foreign.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' })
    expect((await send(tenant, body.media_id)).status).toBe(200)
    expect(await storedOf(other.account)).toEqual([])
  })

  test('refuses one that has expired, will have by send_at, or is not stored', async () => {
    const tenant = await createSender(gateway)
    const { body } = await upload(tenant, picture)
    const given = { idempotency_key: 'first' }
    const first = await send(tenant, body.media_id, given)
    const inDays = (days: number) => ({ send_at: new Date(Date.now() + days * 86_400_000).toISOString() })
    expect(await send(tenant, body.media_id, inDays(6))).toMatchObject({
      status: 200,
      body: { status: 'scheduled' },
    })
    expect(await send(tenant, body.media_id, inDays(8))).toMatchObject({
      status: 404,
      body: { code: 'upload_not_found' },
    })
    const sql = gateway.db.$client
    await sql`UPDATE uploaded_media SET expires_at = now() WHERE media_id = ${String(body.media_id)}`
    expect((await send(tenant, body.media_id)).body.code).toBe('upload_not_found')
    // A replay is no new message.
    expect((await send(tenant, body.media_id, given)).body.message_id).toBe(first.body.message_id)
    const second = await upload(tenant, picture)
    await sql`UPDATE uploaded_media SET stored_at = NULL WHERE media_id = ${String(second.body.media_id)}`
    expect((await send(tenant, second.body.media_id)).body.code).toBe('upload_not_found')
  })

  test('refuses one that is not of the type, or too large for it', async () => {
    const tenant = await createSender(gateway)
    const { body } = await upload(tenant, picture)
    expect(await send(tenant, body.media_id, { type: 'video' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_media' },
    })
    const large = await upload(tenant, Buffer.concat([picture, randomBytes(1.5 * mebibyte)]))
    expect((await send(tenant, large.body.media_id, { type: 'image' })).status).toBe(413)
    expect((await send(tenant, large.body.media_id)).status).toBe(200)
  })

  test('takes either a URL or a media_id', async () => {
    const tenant = await createSender(gateway)
    expect(await send(tenant, undefined)).toMatchObject({ status: 400, body: { code: 'missing_parameter' } })
    const both = await send(tenant, randomUUID(), { url: 'https://example.com/a.pdf' })
    expect(both).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
    expect((await send(tenant, '../../secret')).status).toBe(400)
  })
})
