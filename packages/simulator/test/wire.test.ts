import { randomBytes } from 'node:crypto'
import { Curve } from 'baileys'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lidJid, parseJid, pnJid } from '../src/network/jid.ts'
import { dictionaryOf } from '../src/wire/dictionary.ts'
import { FrameReader, frame } from '../src/wire/frames.ts'
import { signingKeyFromSeed } from '../src/wire/signing-key.ts'

test('signs so that the client verifies it, and agrees on the same secret', () => {
  for (let round = 0; round < 8; round++) {
    const key = signingKeyFromSeed(randomBytes(32))
    const message = randomBytes(round * 7)
    expect(
      Curve.verify(
        key.public,
        Buffer.concat([Buffer.from([1]), message]),
        key.sign(Buffer.concat([Buffer.from([1]), message])),
      ),
    ).toBe(true)
    const other = Curve.generateKeyPair()
    expect(Curve.sharedKey(key.private, other.public)).toEqual(Curve.sharedKey(other.private, key.public))
  }
})

test('finds the number behind every LID', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 10_000n, max: 999_999_999_999_999n }), fc.nat(99), (number, device) => {
      const parsed = { number: number.toString(), device }
      expect(parseJid(lidJid(parsed.number, device))).toEqual(parsed)
      expect(parseJid(pnJid(parsed.number, device))).toEqual(parsed)
    }),
  )
})

test('cuts frames out of a stream that is split at any byte', () => {
  const bodies = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 })
  const intro = Buffer.from('WA\x06\x03', 'latin1')
  const routing = Buffer.concat([Buffer.from([0x45, 0x44, 0, 1, 0, 0, 2, 7, 7]), intro])
  fc.assert(
    fc.property(bodies, fc.boolean(), fc.integer({ min: 1, max: 50 }), (sent, isRouted, step) => {
      const stream = Buffer.concat([isRouted ? routing : intro, ...sent.map((body) => frame(body))])
      const reader = new FrameReader()
      const received: Buffer[] = []
      for (let at = 0; at < stream.length; at += step)
        received.push(...reader.push(stream.subarray(at, at + step)))
      expect(received.map((body) => body.toString('hex'))).toEqual(
        sent.map((body) => Buffer.from(body).toString('hex')),
      )
    }),
  )
})

test.each(['GET / HTTP/1.1', 'WA\x06\x01'])('refuses a stream that begins with %j', (start) => {
  expect(() => new FrameReader().push(Buffer.from(start, 'latin1'))).toThrow('WhatsApp header')
})

test('encodes with the dictionary of the client, as its Baileys does', async () => {
  const attrs = { id: '1.1', type: 'result', to: '4915112345678@s.whatsapp.net' }
  const content = [{ tag: 'pair-device-sign', attrs: { t: 'privacy_token' } }]
  const node = { tag: 'iq', attrs, content }
  // What Baileys 6.17.16 makes of it.
  const ofVersion2 = Buffer.from(
    '00f8081e08ff821b1f04140efaff874915112345678f03f801f803fc10706169722d6465766963652d7369676e1dfc0d707269766163795f746f6b656e',
    'hex',
  )
  expect(dictionaryOf(2)?.encode(node)).toEqual(ofVersion2)
  expect(await dictionaryOf(2)?.decode(ofVersion2)).toMatchObject(node)
  expect(dictionaryOf(3)?.encode(node)).not.toEqual(ofVersion2)
})
