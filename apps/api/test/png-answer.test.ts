import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findOrigin } from '../src/http/client-address.ts'
import { pngType, prefersType } from '../src/http/prefers-type.ts'
import { type Gateway, randomPhone, startGatewayWithOwner } from './gateway.ts'
import { showQr, waitForPairing } from './play-pairing.ts'

test.each([
  ['image/png', true],
  ['IMAGE/PNG; q=0.9, application/json;q=0.8', true],
  ['image/*', true],
  ['image/avif,image/webp,image/*,*/*;q=0.8', true],
  ['application/json;q=0.5, */*', true],
  [null, false],
  ['', false],
  ['*/*', false],
  ['application/json', false],
  ['image/png, application/json', false],
  ['image/png;q=0', false],
  ['image/png;q=0, image/*', false],
  ['image/png;q=0.4, */*;q=0.5', false],
  ['text/html', false],
  ['image/jpeg', false],
])('Accept: %s prefers a PNG: %s', (accept, expected) => {
  expect(prefersType(pngType, accept)).toBe(expected)
})

test.each([
  [{}, 0, 'http://inside:3000'],
  [{ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' }, 0, 'http://inside:3000'],
  [{ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'wa.example.com' }, 1, 'https://wa.example.com'],
  [{ 'x-forwarded-host': 'evil.example, wa.example.com' }, 1, 'http://wa.example.com'],
  [{ 'x-forwarded-proto': 'https' }, 1, 'https://inside:3000'],
])('the origin of a request with %j behind %i proxies is %s', (headers, proxies, expected) => {
  const request = new Request('http://inside:3000/create-link', {
    headers: headers as Record<string, string>,
  })
  expect(findOrigin(request, proxies)).toBe(expected)
})

test.each([
  { 'x-forwarded-proto': 'javascript' },
  { 'x-forwarded-host': 'a/b' },
  { 'x-forwarded-host': 'a@b' },
])('an origin cannot be made of %j', (headers) => {
  const request = new Request('http://inside:3000/', { headers: headers as Record<string, string> })
  expect(() => findOrigin(request, 1)).toThrow('Set PUBLIC_URL')
})

describe('generate-qr', () => {
  let gateway: Gateway
  beforeAll(async () => {
    gateway = await startGatewayWithOwner()
  })
  afterAll(() => gateway.close())

  test('answers with the PNG that the JSON contains, and with JSON for an error', async () => {
    const { apiKey } = await gateway.createAccount()
    const sender = randomPhone()
    const ask = (accept: string, query = `?sender=${sender}`) =>
      fetch(`${gateway.url}/generate-qr${query}`, { headers: { 'x-api-key': apiKey, accept } })
    const asked = ask('image/png')
    await showQr(gateway, await waitForPairing(gateway, sender), { text: 'shown' })
    const png = await asked
    expect(png.status).toBe(200)
    expect(png.headers.get('content-type')).toBe('image/png')
    expect(png.headers.get('vary')).toBe('Accept')
    const json = await ask('*/*')
    expect(json.headers.get('vary')).toBe('Accept')
    const { qr } = (await json.json()) as { qr: string }
    expect(Buffer.from(await png.arrayBuffer()).toString('base64')).toBe(qr)

    const refused = await ask('image/png', '?sender=x')
    expect(refused.status).toBe(400)
    expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(refused.headers.get('vary')).toBe('Accept')
    expect(await refused.json()).toMatchObject({ ok: false, code: 'invalid_parameter' })
  })
})
