import { createHash } from 'node:crypto'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { makeNoisePng } from '@wagate/test-kit/media/media-samples'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const senders = ['15552068001', '15552068002', '15552068003', '15552068004']
const number = '15552068009'

let system: TestSystem
let gateway: GatewayClient
beforeAll(async () => {
  system = await openTestSystem({ workers: 2 })
  gateway = system.gateway
  for (const sender of senders) await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

it('a file that was uploaded once is sent by all senders, whichever worker has them', async () => {
  const picture = makeNoisePng(200)
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(picture)]), 'noise.png')
  const { body: uploaded } = await gateway.request('/upload-media?type=image', { method: 'POST', body: form })
  expect(uploaded).toMatchObject({ ok: true, mime: 'image/png', size: picture.length })

  const owners = new Set(await Promise.all(senders.map((sender) => system.ownerOf(sender))))
  expect(owners.size).toBe(2)
  const sent = await Promise.all(
    [...senders, ...senders].map((sender, index) =>
      gateway.call('send-media', {
        sender,
        number,
        type: index < senders.length ? 'image' : 'document',
        media_id: uploaded.media_id,
      }),
    ),
  )
  for (const { body } of sent) {
    expect(body).toMatchObject({ ok: true, status: 'queued' })
    const message = await until('it is delivered', { withinMs: 30_000, everyMs: 50 }, async () => {
      const found = await gateway.messageStatus(String(body.message_id))
      return ['delivered', 'failed'].includes(found.status) && found
    })
    expect(message).toMatchObject({ status: 'delivered', error_code: null })
  }
  const sha256 = createHash('sha256').update(picture).digest('hex')
  for (const sender of senders) {
    const received = await gateway.phone(number, sender)
    expect(received).toHaveLength(2)
    for (const { type } of received) expect(['image', 'document']).toContain(type)
    for (const message of received)
      expect(message).toMatchObject({ sha256, size: picture.length, duplicates: 0 })
  }
}, 60_000)
