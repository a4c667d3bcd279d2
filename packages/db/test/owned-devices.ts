import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import type { Database } from '../src/client.ts'
import { createDevice } from '../src/queries/devices/devices.ts'
import type { ReceivedMessage } from '../src/queries/messages/received-messages.ts'
import type { Fence } from '../src/queries/statements/fence.ts'
import { claimShards, listUnownedShards } from '../src/queries/workers/shard-leases.ts'
import { registerWorker } from '../src/queries/workers/workers.ts'
import { openAccountDatabase } from './account-database.ts'

export type OwnedDevice = { deviceId: number; fence: Fence }

/** A new database with one account, whose shards all belong to one worker. */
export async function openOwnedDevices(options: { poolSize?: number; isWeekly?: boolean } = {}) {
  const { db, url, accountId, drop } = await openAccountDatabase(options)
  const id = randomUUID()
  await registerWorker(db, { id, name: id, capacity: 1000, leaseTtlMs: 60_000 })
  const shards = (await listUnownedShards(db)).map(({ shard }) => shard)
  const leases = await claimShards(db, id, shards)
  const fences = new Map(leases.map((lease) => [lease.shard, { ...lease, workerId: id }]))
  let senders = 0

  /** Creates a device, and returns the fence of its owner. */
  async function addDevice(sender = String(4_915_100_000_000 + senders++)): Promise<OwnedDevice> {
    await createDevice(db, accountId, { sender, name: sender, cmsId: null, cmsVer: null })
    const [device] = await findDevice(db, accountId, sender)
    const fence = fences.get(device?.shard ?? -1)
    if (!device || !fence) throw new Error('The shard has no owner')
    return { deviceId: device.id, fence }
  }

  return {
    db,
    url,
    accountId,
    drop,
    addDevice,
    /** The same, linked for the first time. */
    async addLinkedDevice(sender?: string): Promise<OwnedDevice> {
      const device = await addDevice(sender)
      await db.$client`
        UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = 1 WHERE id = ${device.deviceId}`
      return device
    },
  }
}

/** Of `openReceivingDevice`. */
export const [sender, contact] = ['4915100000000', '4915187654321']

/** A linked sender, which receives texts of one contact. */
export async function openReceivingDevice() {
  const owned = await openOwnedDevices()
  const device = await owned.addLinkedDevice(sender)
  return {
    ...owned,
    device,
    /** A text as the owner stores it, unless told otherwise. */
    received: (fields: Partial<ReceivedMessage> = {}): ReceivedMessage => ({
      ...device,
      id: makeMessageId(sender),
      accountId: owned.accountId,
      sender,
      number: contact,
      type: 'text',
      body: 'Hello',
      waId: randomUUID(),
      linkGeneration: 1,
      ...fields,
    }),
  }
}

function findDevice(db: Database, accountId: number, sender: string) {
  return db.$client<{ id: number; shard: number }[]>`
    SELECT id, shard FROM devices WHERE account_id = ${accountId} AND sender = ${sender} AND deleted_at IS NULL`
}
