import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeScopedCache } from '../src/caches/scoped-cache.ts'
import { readMasterKeys } from '../src/config/master-keys.ts'
import { type AuthRows, type CachedAuth, makeAuthStore } from '../src/session/credentials/auth-store.ts'
import { makeVault } from '../src/session/credentials/vault.ts'

function makeStore(written: AuthRows[] = [], whileReading: () => Promise<void> = async () => undefined) {
  return makeAuthStore({
    async read(type, ids) {
      const isWritten = written.flat().some((row) => row.type === type && ids.includes(row.id))
      if (isWritten) throw new Error('What was written is cached')
      await whileReading()
      return []
    },
    ...makeVaultAndCache(),
    write: async (rows) => void written.push(rows),
  })
}

const makeVaultAndCache = () => ({
  vault: makeVault(readMasterKeys(randomBytes(32)), 1),
  format: 2 as const,
  cache: makeScopedCache<CachedAuth>({ sizeMax: 100_000 })(),
})

test('a stored token does not keep the stanza that carried it in memory', async () => {
  const { keys } = makeStore()
  const token = randomBytes(4000).subarray(1000, 1032)
  await keys.set({ tctoken: { contact: { token, timestamp: '1' } } })
  const kept = (await keys.get('tctoken', ['contact'])).contact
  expect(kept).toEqual({ token, timestamp: '1' })
  expect(kept?.token.buffer.byteLength).toBe(32)
})

test('the list of all contacts with a token, which grows with every contact, is not stored', async () => {
  const written: AuthRows[] = []
  const { keys } = makeStore(written)
  const entry = { token: randomBytes(32), timestamp: '1' }
  const index = { __index: { token: Buffer.from('["contact"]') } }
  await keys.set({ tctoken: { contact: entry, ...index } })
  await keys.set({ tctoken: index })
  expect(written.map((rows) => rows.map(({ id }) => id))).toEqual([['contact']])
  expect(await keys.get('tctoken', ['__index'])).toEqual({})
})

test('reads what is cached without a promise', async () => {
  const { keys, readOwn, writeOwn } = makeStore([])
  await keys.set({ 'lid-mapping': { '15550001': '77' } })
  await writeOwn('account-salt', new Map([['-', 'salt']]))
  expect(keys.get('lid-mapping', ['15550001'])).toEqual({ '15550001': '77' })
  expect(readOwn('account-salt', ['-'])).toEqual(new Map([['-', 'salt']]))
  expect(keys.get('lid-mapping', ['15550001', '15550002'])).toBeInstanceOf(Promise)
})

test('a value that is written during a read is not replaced by what the read found', async () => {
  const newer = new Map([['-', 'newer']])
  const { readOwn, writeOwn } = makeStore([], () => writeOwn('account-salt', newer))
  expect(await readOwn('account-salt', ['-'])).toEqual(newer)
  expect(readOwn('account-salt', ['-'])).toEqual(newer)
})

test('pre-keys that are made after the end of the session are not stored, and used ones are deleted', async () => {
  const written: AuthRows[] = []
  const { keys, release } = makeStore(written)
  const preKey = { public: randomBytes(32), private: randomBytes(32) }
  await keys.set({ 'pre-key': { 1: preKey } })
  release()
  await keys.set({ 'pre-key': { 1: preKey } })
  await keys.set({ 'pre-key': { 2: null } })
  expect(written.flat().map(({ id, value }) => [id, value !== null])).toEqual([
    ['1', true],
    ['2', false],
  ])
})

test('what is stored is read again after a write that failed, which may have been stored', async () => {
  const stored = new Map<string, Buffer>()
  let isAnswerLost = false
  const { readOwn, writeOwn } = makeAuthStore({
    ...makeVaultAndCache(),
    read: async () => [...stored].map(([id, value]) => ({ id, value })),
    async write(rows) {
      for (const { id, value } of rows) if (value) stored.set(id, value)
      if (isAnswerLost) throw new Error('The answer was lost')
    },
  })
  await writeOwn('account-salt', new Map([['-', 'first']]))
  isAnswerLost = true
  await expect(writeOwn('account-salt', new Map([['-', 'second']]))).rejects.toThrow('lost')
  expect(await readOwn('account-salt', ['-'])).toEqual(new Map([['-', 'second']]))
})
