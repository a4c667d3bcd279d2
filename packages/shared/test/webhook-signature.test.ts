import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeWebhookSecret, signWebhook } from '../src/webhook-signature.ts'

const request = { id: 'evt_1', timestampSeconds: 1_700_000_000, body: '{"a":"ä"}' }

test('a secret is 32 random bytes in base64 after its prefix', () => {
  const secret = makeWebhookSecret()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(makeWebhookSecret()).not.toBe(secret)
})

test('signs id, time and body with the bytes of each secret', () => {
  const secrets = [makeWebhookSecret(), makeWebhookSecret()]
  const expected = secrets.map((secret) => {
    const hmac = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    return `v1,${hmac.update('evt_1.1700000000.{"a":"ä"}').digest('base64')}`
  })
  expect(signWebhook(secrets, request)).toBe(expected.join(' '))
})
