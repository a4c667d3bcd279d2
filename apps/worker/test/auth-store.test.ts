import { randomBytes } from 'node:crypto'
import { openDatabase } from '@wagate/db/client'
import { expect, test } from 'vitest'
import { makeScopedCache } from '../src/scoped-cache.ts'
import { makeAuthStore } from '../src/session/auth-store.ts'
import { readMasterKeys } from '../src/session/master-keys.ts'
import { makeVault } from '../src/session/vault.ts'

test('a token that came in a stanza does not keep the stanza in memory', async () => {
  const { keys } = makeAuthStore({
    // Never asked: what was written is cached.
    db: openDatabase('postgres://127.0.0.1:9/', {
      poolSize: 1,
      applicationName: 'test',
      statementTimeoutMs: 1000,
    }),
    deviceId: 1,
    vault: makeVault(readMasterKeys({ MASTER_KEY: randomBytes(32), MASTER_KEYS_OTHER: [] }), 1),
    cache: makeScopedCache({ entriesMax: 10 })(),
    write: async () => undefined,
  })
  const token = randomBytes(4000).subarray(1000, 1032)
  await keys.set({ tctoken: { contact: { token, timestamp: '1' } } })
  const kept = (await keys.get('tctoken', ['contact'])).contact
  expect(kept).toEqual({ token, timestamp: '1' })
  expect(kept?.token.buffer.byteLength).toBe(32)
})
