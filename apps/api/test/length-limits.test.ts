import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const number = '4915199999999'
const refused = (parameter: string) => ({
  status: 400,
  body: { code: 'invalid_parameter', details: [{ parameter }] },
})

describe('the longest text is accepted, one character more is refused', () => {
  const message = { number, message: 'x' }
  const media = { number, type: 'document', url: 'https://example.com/x.pdf' }

  test.each([
    { path: '/send-message', parameter: 'message', charsMax: 4096, given: message },
    { path: '/send-message', parameter: 'idempotency_key', charsMax: 255, given: message },
    { path: '/send-media', parameter: 'caption', charsMax: 1024, given: media },
    { path: '/send-media', parameter: 'filename', charsMax: 255, given: media },
    { path: '/create-device', parameter: 'name', charsMax: 190, given: {} },
    { path: '/create-device', parameter: 'cms_id', charsMax: 190, given: {} },
    { path: '/create-device', parameter: 'cms_ver', charsMax: 190, given: {} },
    { path: '/set-device', parameter: 'name', charsMax: 190, given: {} },
  ])('$parameter of $path: $charsMax', async ({ path, parameter, charsMax, given }) => {
    const { account, sender } = await createSender(gateway)
    const send = (chars: number) => account.post(path, { sender, ...given, [parameter]: '😀'.repeat(chars) })
    expect(await send(charsMax + 1)).toMatchObject(refused(parameter))
    expect((await send(charsMax)).status).toBe(200)
  })

  test('Idempotency-Key in the header: 255', async () => {
    const { account, sender } = await createSender(gateway)
    const send = (chars: number) =>
      account.post('/send-message', { sender, ...message }, { 'idempotency-key': 'k'.repeat(chars) })
    expect(await send(256)).toMatchObject(refused('Idempotency-Key'))
    expect((await send(255)).status).toBe(200)
  })
})

describe('the largest body is accepted, one byte more is refused', () => {
  const kibibyte = 1024
  const url = 'https://example.com/x.png'

  test.each([
    { path: '/send-message', bytesMax: 64 * kibibyte, given: { number, message: 'x' } },
    { path: '/send-media', bytesMax: 24 * kibibyte * kibibyte, given: { number, type: 'image', url } },
  ])('of $path: $bytesMax bytes', async ({ path, bytesMax, given }) => {
    const { account, sender } = await createSender(gateway)
    const bodyOf = (padding: string) => JSON.stringify({ sender, ...given, padding })
    const send = (bytes: number) => account.post(path, bodyOf('x'.repeat(bytes - bodyOf('').length)))
    expect(await send(bytesMax + 1)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
    expect((await send(bytesMax)).status).toBe(200)
  })
})
