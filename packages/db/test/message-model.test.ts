import { randomUUID } from 'node:crypto'
import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { insertAccount } from '../src/queries/accounts/accounts.ts'
import { createDevice, findDevice } from '../src/queries/devices/devices.ts'
import { claimShards } from '../src/queries/workers/shard-leases.ts'
import { registerWorker } from '../src/queries/workers/workers.ts'
import { listCounts, listCountsOfEvents } from './message-counts.ts'
import type { Model, Real } from './message-model.ts'
import { steps } from './message-model-steps.ts'

const histories = 68
/** They wait for Postgres, so several run at a time, each on a sender of its own. */
const historiesAtATime = 4

let db: Database
let drop: () => Promise<void>
let accountId: number
let workerId: string

beforeAll(async () => {
  const database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 4, applicationName: 'test', statementTimeoutMs: 5000 })
  drop = database.drop
  const account = await insertAccount(db, {
    email: 'a@example.com',
    passwordHash: '',
    role: 'USER',
    devicesAllowed: 10_000,
    expiresAt: null,
    key: { name: 'k', hash: Buffer.from('hash'), lastFour: 'hash' },
  })
  accountId = account?.id ?? 0
  workerId = randomUUID()
  await registerWorker(db, { id: workerId, name: 'w', capacity: 10_000, leaseTtlMs: 3_600_000 })
  const shards = Array.from({ length: 256 }, (_, shard) => shard)
  await claimShards(db, workerId, shards)
})
afterAll(async () => {
  await closeDatabase(db)
  await drop()
})

async function begin(): Promise<Real> {
  const sender = String(4_915_100_000_000 + senders++)
  await createDevice(db, accountId, { sender, name: 'x', cmsId: null, cmsVer: null })
  const device = await findDevice(db, accountId, { sender }, 0)
  const [lease] = await db.$client<{ epoch: number }[]>`
    SELECT epoch::int FROM shard_leases WHERE shard = ${device?.shard ?? -1}`
  if (!device || !lease) throw new Error('The device was not created')
  return {
    db,
    accountId,
    sender,
    deviceId: device.id,
    fence: { shard: device.shard, workerId, epoch: lease.epoch },
    ids: [],
  }
}
let senders = 0

test('the messages of a sender agree with a model of sends, schedules, cancellations, links, logouts and owners', async () => {
  const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31)
  const numRuns = histories / historiesAtATime
  const makeProperty = () =>
    fc.asyncProperty(fc.commands(steps, { maxCommands: 30, size: 'max' }), async (commands) => {
      const real = await begin()
      const model: Model = { isLinked: false, generation: 0, messages: [], received: 0 }
      await fc.asyncModelRun(() => ({ model, real }), commands)
      expect(await listCounts(db, real.sender)).toEqual(await listCountsOfEvents(db, real.deviceId))
    })
  // A failure shows the seed with which it comes first.
  await Promise.all(
    Array.from({ length: historiesAtATime }, (_, n) =>
      fc.assert(makeProperty(), { seed: seed + n * 1_000_003, numRuns, endOnFailure: true }),
    ),
  )
}, 120_000)
