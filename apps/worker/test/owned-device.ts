import { randomUUID } from 'node:crypto'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { insertAccount } from '@wagate/db/queries/accounts/accounts'
import { createDevice, findDevice } from '@wagate/db/queries/devices/devices'
import { claimShards } from '@wagate/db/queries/workers/shard-leases'
import { registerWorker } from '@wagate/db/queries/workers/workers'
import { createTestDatabase } from '@wagate/test-kit/servers/test-database'

/** A new database with one account and one device, whose shard belongs to a worker for an hour. */
export async function openOwnedDevice() {
  const database = await createTestDatabase()
  const db = openDatabase(database.url, { poolSize: 2, applicationName: 'test', statementTimeoutMs: 5000 })
  const account = await insertAccount(db, {
    email: 'a@example.com',
    passwordHash: '',
    role: 'USER',
    devicesAllowed: 1,
    expiresAt: null,
    key: { name: 'k', hash: Buffer.from('hash'), lastFour: 'hash' },
  })
  const accountId = account?.id ?? 0
  const sender = '4915100000000'
  await createDevice(db, accountId, { sender, name: 'x', cmsId: null, cmsVer: null })
  const device = await findDevice(db, accountId, { sender }, 0)
  if (!device) throw new Error('The device was not created')
  const workerId = randomUUID()
  await registerWorker(db, { id: workerId, name: 'w', capacity: 1, leaseTtlMs: 3_600_000 })
  const [claimed] = await claimShards(db, workerId, [device.shard])
  if (!claimed) throw new Error('The shard was not claimed')
  return {
    db,
    accountId,
    id: device.id,
    owned: { ...claimed, workerId },
    async drop() {
      await closeDatabase(db)
      await database.drop()
    },
  }
}
