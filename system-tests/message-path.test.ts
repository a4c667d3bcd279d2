import { createHash, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { GatewayClient, ReceivedOnPhone } from '@wagate/test-kit/gateway-client'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const sender = '15550200001'
const recipient = '15550200002'
const secretText = `The code is ${randomBytes(8).toString('hex')}`

let system: TestSystem
let gateway: GatewayClient
let mediaServer: Server

beforeAll(async () => {
  system = await openTestSystem()
  // Its key is one of the secrets that the tests look for.
  gateway = system.admin
  mediaServer = createServer((request, response) => {
    const sample = mediaSamples.find(({ type }) => `/${type}` === request.url)
    response.writeHead(sample ? 200 : 404).end(sample?.bytes)
  }).listen(0, '127.0.0.1')
  await gateway.link(sender)
}, 60_000)

afterAll(async () => {
  mediaServer?.close()
  await system?.close()
}, 30_000)

const mediaUrl = (path: string) => `http://127.0.0.1:${(mediaServer.address() as AddressInfo).port}/${path}`

function findOnPhone(messages: ReceivedOnPhone[], waId: unknown): ReceivedOnPhone | undefined {
  return messages.find(({ wa_message_id }) => wa_message_id === waId)
}

describe('a message from HTTP to a phone', () => {
  it('carries a text that the phone decrypts, and shows sent, delivered and read in the history', async () => {
    const sent = await gateway.call('send-message', { sender, number: recipient, message: secretText })
    expect(sent).toMatchObject({
      status: 200,
      body: { ok: true, status: 'queued', sender, number: recipient },
    })
    const record = await gateway.untilMessage(
      sent.body.message_id,
      'is delivered',
      ({ status }) => status === 'delivered',
    )
    const onPhone = findOnPhone(await gateway.phone(recipient, sender), record.wa_message_id)
    expect(onPhone).toMatchObject({ type: 'text', text: secretText, duplicates: 0 })
    await gateway.control(`/chats/${recipient}/read`, { wa_message_id: record.wa_message_id })
    await gateway.untilMessage(sent.body.message_id, 'is read', ({ status }) => status === 'read')
  })

  const ways = mediaSamples.flatMap((sample) => [
    { ...sample, way: 'a URL', urlOf: () => mediaUrl(sample.type) },
    {
      ...sample,
      way: 'a data: URL',
      urlOf: () => `data:${sample.mime};base64,${sample.bytes.toString('base64')}`,
    },
  ])

  it.each(ways)('carries $type by $way, byte for byte', async ({ type, mime, bytes, urlOf }) => {
    const caption = type === 'audio' ? undefined : `Caption of ${type}`
    const sent = await gateway.call('send-media', { sender, number: recipient, type, url: urlOf(), caption })
    expect(sent).toMatchObject({ status: 200, body: { ok: true, status: 'queued', type } })
    const record = await gateway.untilMessage(
      sent.body.message_id,
      'is delivered',
      ({ status }) => status === 'delivered',
    )
    const onPhone = findOnPhone(await gateway.phone(recipient), record.wa_message_id)
    expect(onPhone).toMatchObject({
      type,
      mime,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      ...(caption && { caption }),
    })
  })

  it('fails a message whose media cannot be had, with a code, and goes on with the next', async () => {
    const lost = await gateway.call('send-media', {
      sender,
      number: recipient,
      type: 'image',
      url: mediaUrl('none'),
    })
    const wrong = await gateway.call('send-media', {
      sender,
      number: recipient,
      type: 'image',
      url: mediaUrl('audio'),
    })
    const next = await gateway.call('send-message', {
      sender,
      number: recipient,
      message: 'after the failures',
    })
    const failed = await gateway.untilMessage(
      lost.body.message_id,
      'failed',
      ({ status }) => status === 'failed',
    )
    expect(failed.error_code).toBe('media_fetch_failed')
    const mismatched = await gateway.untilMessage(
      wrong.body.message_id,
      'failed',
      ({ status }) => status === 'failed',
    )
    expect(mismatched.error_code).toBe('media_type_mismatch')
    await gateway.untilMessage(next.body.message_id, 'is delivered', ({ status }) => status === 'delivered')
  })

  it('fails a message to a number that is not on WhatsApp', async () => {
    const number = '15550299999'
    const fault = await gateway.control<{ id: string }>('/faults', { kind: 'not_on_whatsapp', number })
    const sent = await gateway.call('send-message', { sender, number, message: 'nobody there' })
    const failed = await gateway.untilMessage(
      sent.body.message_id,
      'failed',
      ({ status }) => status === 'failed',
    )
    expect(failed.error_code).toBe('recipient_not_on_whatsapp')
    expect(fault.id).toBeDefined()
  })

  it('stores what a phone answers as received', async () => {
    await gateway.control(`/chats/${recipient}/send`, { to: sender, text: 'An answer' })
    const record = await until('the answer is in the history', async () =>
      (await gateway.history()).find(({ direction }) => direction === 'in'),
    )
    expect(record).toMatchObject({
      number: recipient,
      sender,
      type: 'text',
      message: 'An answer',
      status: 'received',
    })
  })

  it('refuses to act for a phone with another number than the sender', async () => {
    const wrong = '15550200003'
    const qr = await gateway.call('generate-qr', { sender: wrong })
    await gateway.control('/scan', { qr: qr.body.qr_text, number: '15550200004' })
    const device = await until('the mismatch is reported', async () => {
      const status = await gateway.statusOf(wrong)
      return status.status_reason === 'sender_mismatch' && status
    })
    expect(device.status).toBe('disconnected')
    await until('the companion is gone from the phone', async () => {
      const phones = await gateway.control<{ number: string; companions: unknown[] }[]>('/phones')
      return phones.find(({ number }) => number === '15550200004')?.companions.length === 0
    })
  })

  it('logs out: unlinks the phone, keeps the record, refuses sends, and links again', async () => {
    const other = '15550200005'
    await gateway.link(other)
    const device = await gateway.statusOf(other)
    const loggedOut = await gateway.call('logout-device', { device_id: device.device_id })
    expect(loggedOut).toMatchObject({ status: 200, body: { ok: true, status: 'disconnected' } })
    await until('the companion is gone from the phone', async () => {
      const phones = await gateway.control<{ number: string; companions: unknown[] }[]>('/phones')
      return phones.find(({ number }) => number === other)?.companions.length === 0
    })
    expect(await gateway.statusOf(other)).toMatchObject({
      device_id: device.device_id,
      status: 'disconnected',
    })
    const refused = await gateway.call('send-message', { sender: other, number: recipient, message: 'x' })
    expect(refused).toMatchObject({ status: 409, body: { ok: false, code: 'sender_not_connected' } })
    await gateway.link(other)
  })

  it('notices that the phone unlinked the device', async () => {
    const other = '15550200006'
    await gateway.link(other)
    await gateway.control('/unlink', { number: other })
    await until(
      'the device is disconnected',
      async () => (await gateway.statusOf(other)).status === 'disconnected',
    )
    expect(await gateway.statusOf(other)).toMatchObject({ status_reason: 'logged_out' })
  })

  it('spoke only what the simulated WhatsApp understands', async () => {
    const { unknown } = await gateway.control<{ unknown: unknown }>('/stats')
    expect(unknown).toEqual({})
  })

  it('wrote no secret into a log', () => {
    const text = [...system.logs().values()].join('\n')
    expect(text).toContain('Device connected')
    for (const secret of [
      secretText,
      system.devnet.adminKey.apiKey ?? 'none',
      'privKey',
      'An answer',
      recipient,
    ]) {
      expect(text).not.toContain(secret)
    }
  })
})
