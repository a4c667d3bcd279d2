import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import {
  claimVersionRead,
  hastenVersionRead,
  noteUsedVersion,
  recordReadVersion,
} from '../src/queries/credentials/client-versions.ts'

const pauseMs = 6 * 3_600_000
const older = '2.3000.999999999'
const newer = '2.3000.1043857760'
let server: Awaited<ReturnType<typeof createTestDatabase>>
let db: Database

beforeAll(async () => {
  server = await createTestDatabase()
  db = openDatabase(server.url, { poolSize: 4, applicationName: 'test', statementTimeoutMs: 4000 })
})
afterAll(async () => {
  await closeDatabase(db)
  await server.drop()
})
beforeEach(async () => {
  await db.$client`DELETE FROM client_versions`
  await db.$client`UPDATE installation SET client_version_due_at = now()`
})

/** As if the time had passed. */
async function pass(minutes: number): Promise<void> {
  const back = db.$client`${minutes}::float8 * interval '1 minute'`
  await db.$client`UPDATE installation SET client_version_due_at = client_version_due_at - ${back}`
  await db.$client`UPDATE client_versions SET read_at = read_at - ${back}, first_used_at = first_used_at - ${back}`
}
const isClaimed = async () => (await claimVersionRead(db)).isClaimed

test('is read by one of many workers, and by another one if that one records nothing', async () => {
  const claims = await Promise.all(Array.from({ length: 8 }, isClaimed))
  expect(claims.filter(Boolean)).toHaveLength(1)
  await pass(14)
  expect(await isClaimed()).toBe(false)
  await pass(1)
  expect(await isClaimed()).toBe(true)
})

test('is not read again for six hours', async () => {
  await claimVersionRead(db)
  await recordReadVersion(db, newer, pauseMs)
  await pass(359)
  expect(await claimVersionRead(db)).toMatchObject({ isClaimed: false, newest: { version: newer } })
  await pass(1)
  expect(await isClaimed()).toBe(true)
})

test('is the newest by number, with the time since it was read last', async () => {
  expect((await claimVersionRead(db)).newest).toBeUndefined()
  await recordReadVersion(db, newer, pauseMs)
  await pass(30)
  await recordReadVersion(db, older, pauseMs)
  const { newest } = await claimVersionRead(db)
  expect(newest?.version).toBe(newer)
  expect(Math.round((newest?.ageMs ?? 0) / 60_000)).toBe(30)
})

test('is read soon when WhatsApp refuses it, unless it was read a moment ago', async () => {
  await recordReadVersion(db, newer, pauseMs)
  await hastenVersionRead(db)
  expect(await isClaimed()).toBe(false)
  await pass(16)
  await hastenVersionRead(db)
  expect(await isClaimed()).toBe(true)
  // It is being read now.
  await hastenVersionRead(db)
  expect(await isClaimed()).toBe(false)
})

test('counts its age from its first use when the operator has chosen it', async () => {
  expect(await noteUsedVersion(db, newer)).toBeLessThan(60_000)
  await pass(60)
  expect(Math.round((await noteUsedVersion(db, newer)) / 60_000)).toBe(60)
  expect((await claimVersionRead(db)).newest).toBeUndefined()
})

test('is forgotten after a year', async () => {
  await recordReadVersion(db, older, pauseMs)
  await pass(366 * 24 * 60)
  await recordReadVersion(db, newer, pauseMs)
  expect(await db.$client`SELECT version FROM client_versions`).toEqual([{ version: newer }])
})
