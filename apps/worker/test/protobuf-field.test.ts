import { proto } from 'baileys'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readBytesField } from '../src/session/credentials/protobuf-field.ts'

const { HistorySync } = proto
const globalSettingsField = 8
const threadIdUserSecretField = 9

test('finds a field of bytes behind any others', () => {
  const fields = fc.record({
    syncType: fc.constantFrom(0, 1, 2, 3, 4, 5),
    chunkOrder: fc.nat(),
    progress: fc.nat(100),
    secret: fc.uint8Array({ minLength: 1, maxLength: 300 }),
  })
  fc.assert(
    fc.property(fields, ({ secret, ...others }) => {
      const message = HistorySync.encode({ ...others, threadIdUserSecret: secret }).finish()
      expect(readBytesField(message, threadIdUserSecretField)).toEqual(Buffer.from(secret))
      expect(readBytesField(message, globalSettingsField)).toBeUndefined()
      expect(readBytesField(message.subarray(0, -1), threadIdUserSecretField)).toBeUndefined()
    }),
  )
})

test('reads garbage without an end or an error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.integer({ min: 1, max: 30 }), (bytes, field) => {
      const found = readBytesField(bytes, field)
      expect(found === undefined || found.length <= bytes.length).toBe(true)
    }),
  )
})
