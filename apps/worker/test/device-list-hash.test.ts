import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { deviceListHash } from '../src/session/sending/fan-out.ts'

test('is that of all devices in order, each with its agent and device number', () => {
  const names = ['1555.0:0@s.whatsapp.net', '1555.0:7@s.whatsapp.net', '1666.0:0@s.whatsapp.net']
  const digest = createHash('sha256').update(names.join('')).digest()
  const hash = deviceListHash(['1666@s.whatsapp.net', '1555:7@s.whatsapp.net', '1555@s.whatsapp.net'])
  expect(hash).toBe(`2:${digest.toString('base64').slice(0, 8)}`)
  expect(deviceListHash(['1666@s.whatsapp.net', '1555@s.whatsapp.net'])).not.toBe(hash)
})
