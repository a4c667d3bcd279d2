import { randomBytes } from 'node:crypto'
import type { Database } from '@wagate/db/client'
import { listAuthValues } from '@wagate/db/queries/credentials/device-auth'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeScopedCache } from '../src/caches/scoped-cache.ts'
import { readMasterKeys } from '../src/config/master-keys.ts'
import { makeDeviceAuth } from '../src/device/device-auth.ts'
import type { Lease } from '../src/ownership/lease.ts'
import { authContext, isInParts, makeVault } from '../src/session/credentials/vault.ts'
import { makeAuthWrites, makeStatementBatch } from '../src/statements/statement-batch.ts'
import { changeSignalFormat } from '../src/stored-keys/change-signal-format.ts'
import { openOwnedDevice } from './owned-device.ts'

let db: Database
let drop: () => Promise<void>
let id: number
const masterKeys = readMasterKeys(randomBytes(32))
let owned: Pick<Lease, 'shard' | 'epoch' | 'workerId'>

beforeAll(async () => {
  ;({ db, id, owned, drop } = await openOwnedDevice())
})
afterAll(() => drop())

/** What Baileys gets to write its keys with, under a lease with these properties. */
function openStore(lease: Partial<Lease>) {
  const auth = makeDeviceAuth(
    {
      statements: {
        authReads: makeNaturalBatch((reads) => listAuthValues(db, reads), { itemsMax: 100 }),
        authWrites: makeAuthWrites(db),
      },
      caches: { auth: makeScopedCache({ sizeMax: 100 }) },
      onLost: () => undefined,
      signalFormat: 2,
    },
    {
      id,
      lease: { ...owned, isValid: () => true, ...lease },
      vault: makeVault(masterKeys, id),
      contacts: { note: async () => undefined },
    },
  )
  return auth.make()
}

const storedValues = async () =>
  (await listAuthValues(db, [{ deviceId: id, type: 'sender-key', ids: ['a'] }])).flat()

describe('the key store of a device', () => {
  test('resolves when the keys are stored', async () => {
    await openStore({}).keys.set({ 'sender-key': { a: Buffer.from('1') } })
    expect(await storedValues()).toHaveLength(1)
  })

  test('rejects a write when the lease has expired before the write was stored', async () => {
    const { keys } = openStore({ isValid: () => false })
    await expect(keys.set({ 'sender-key': { a: Buffer.from('2') } })).rejects.toThrow('lease')
  })

  test('refuses keys of a former owner and stores none of them', async () => {
    const before = await storedValues()
    const { keys } = openStore({ epoch: owned.epoch - 1 })
    await expect(keys.set({ 'sender-key': { a: Buffer.from('3') } })).rejects.toThrow('Another worker')
    expect(await storedValues()).toEqual(before)
  })
})

test('what Postgres refuses of one device does not affect the others', async () => {
  const authReads = makeStatementBatch(
    (reads: Parameters<typeof listAuthValues>[1]) => listAuthValues(db, reads),
    { itemsMax: 100 },
  )
  const read = (key: string) => authReads.add({ deviceId: id, type: 'sender-key', ids: [key] })
  await openStore({}).keys.set({ 'sender-key': { a: Buffer.from('4') } })
  const [good, bad] = await Promise.allSettled([read('a'), read('a\0b')])
  expect(good).toMatchObject({ status: 'fulfilled', value: [{ id: 'a' }] })
  expect(bad.status).toBe('rejected')

  // More than an entry of an index can hold.
  const long = randomBytes(8000).toString('hex')
  const { keys } = openStore({})
  const write = (key: string, text: string) => keys.set({ 'sender-key': { [key]: Buffer.from(text) } })
  const written = await Promise.allSettled([write('b', '5'), write(long, '6'), write('c', '7')])
  expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await read('b')).toHaveLength(1)
  expect(await read('c')).toHaveLength(1)
})

test('sessions go back to the format that earlier versions read', async () => {
  const record = { _sessions: {}, version: 'v1' }
  const session = { '1.0': record as never, '2.0': record as never }
  await openStore({}).keys.set({ session })
  const listStored = async () =>
    (await listAuthValues(db, [{ deviceId: id, type: 'session', ids: Object.keys(session) }])).flat()
  expect((await listStored()).every(({ value }) => isInParts(value))).toBe(true)
  const changed = await changeSignalFormat(db, 1, masterKeys)
  expect(changed).toMatchObject({ isComplete: true })
  expect(changed.lines).toContain('2 sessions converted.')
  const vault = makeVault(masterKeys, id)
  for (const { id, value } of await listStored())
    expect(JSON.parse(String(vault.open(value, authContext('session', id))))).toEqual(record)
  expect(await openStore({}).keys.get('session', ['1.0', '2.0'])).toEqual(session)
})
