import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../src/client.ts'
import { type AuthWrite, listAuthValues } from '../src/queries/credentials/device-auth.ts'
import { createDevice, findDevice } from '../src/queries/devices/devices.ts'
import {
  claimMessages,
  claimWithAuthWrites,
  releaseMessages,
} from '../src/queries/messages/message-claims.ts'
import { storeUploadedContent } from '../src/queries/messages/message-content.ts'
import { type Fence, OwnershipLost } from '../src/queries/statements/fence.ts'
import { claimShards, freeShardsOfDeadWorkers, releaseShards } from '../src/queries/workers/shard-leases.ts'
import { registerWorker } from '../src/queries/workers/workers.ts'
import { openAccountDatabase } from './account-database.ts'

let db: Database
let drop: () => Promise<void>
let accountId: number
let devices = 0

beforeAll(async () => {
  ;({ db, accountId, drop } = await openAccountDatabase())
})
afterAll(() => drop())

/** A new device with its shard. */
async function makeDevice(): Promise<{ id: number; shard: number }> {
  devices += 1
  const sender = `49151${1_000_000 + devices}`
  await createDevice(db, accountId, { sender, name: 'x', cmsId: null, cmsVer: null })
  const device = await findDevice(db, accountId, { sender }, 0)
  if (!device) throw new Error('The device was not created')
  await db.$client`
    UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = 1 WHERE id = ${device.id}`
  return device
}

async function own(shard: number): Promise<Fence> {
  const workerId = randomUUID()
  await registerWorker(db, { id: workerId, name: workerId, capacity: 1, leaseTtlMs: 3_600_000 })
  const [owned] = await claimShards(db, workerId, [shard])
  if (!owned) throw new Error('The shard was not claimed')
  return { shard, workerId, epoch: owned.epoch }
}

async function die({ workerId }: Fence): Promise<void> {
  await db.$client`UPDATE workers SET state = 'dead' WHERE id = ${workerId}`
  await freeShardsOfDeadWorkers(db)
}

const stop = (owner: Fence) => releaseShards(db, owner.workerId, [owner])

type Row = { number: string; type?: string; status?: string }
type Stored = { id: string; createdAt: string }

async function insert(deviceId: number, row: Row): Promise<Stored> {
  const [stored] = await db.$client<Stored[]>`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id, link_generation)
    VALUES (${makeMessageId('1')}, ${accountId}, ${deviceId}, 'out', ${row.type ?? 'text'}, '1', ${row.number}, 'x',
      ${row.status ?? 'queued'}, ${randomUUID()}, 1)
    RETURNING id, created_at::text AS "createdAt"`
  if (!stored) throw new Error('The message was not inserted')
  return stored
}

const claim = async (fence: Fence, message: Stored, recipientJid: string | null = 'jid') =>
  (await claimMessages(db, [{ ...message, fence, recipientJid, setback: null }]))[0]?.interruptions

describe('deaths of owners that had claimed a message', () => {
  it('are counted once each, and clean releases are not', async () => {
    const device = await makeDevice()
    const message = await insert(device.id, { number: '1' })
    const first = await own(device.shard)
    expect(await claim(first, message)).toBe(0)
    expect(await claim(first, message)).toBe(0)
    await die(first)
    const second = await own(device.shard)
    expect(await claim(second, message)).toBe(1)
    expect(await claim(second, message)).toBe(1)
    await stop(second)
    const third = await own(device.shard)
    expect(await claim(third, message)).toBe(1)
    await die(third)
    expect(await claim(await own(device.shard), message)).toBe(2)
  })

  it('are counted when the next owners end before they have claimed it', async () => {
    const device = await makeDevice()
    const message = await insert(device.id, { number: '1' })
    const first = await own(device.shard)
    await claim(first, message)
    await die(first)
    for (const end of [die, stop, die]) await end(await own(device.shard))
    const next = await own(device.shard)
    expect(await claim(next, message)).toBe(1)
    await stop(next)
    expect(await claim(await own(device.shard), message)).toBe(1)
  })

  it('are counted when a worker of the version before has freed the shard', async () => {
    const device = await makeDevice()
    const message = await insert(device.id, { number: '1' })
    await claim(await own(device.shard), message)
    await db.$client`UPDATE shard_leases SET owner = NULL, died_epoch = epoch WHERE shard = ${device.shard}`
    expect(await claim(await own(device.shard), message)).toBe(1)
  })

  it('are not counted when the owner that had claimed it was stopped, and the next one died', async () => {
    const device = await makeDevice()
    const message = await insert(device.id, { number: '1' })
    await die(await own(device.shard))
    const first = await own(device.shard)
    await claim(first, message)
    await stop(first)
    await die(await own(device.shard))
    expect(await claim(await own(device.shard), message)).toBe(0)
  })

  it('are not counted for a released message', async () => {
    const device = await makeDevice()
    const [sent, media, held] = [
      await insert(device.id, { number: '1' }),
      await insert(device.id, { number: '2', type: 'image' }),
      await insert(device.id, { number: '3' }),
    ]
    const first = await own(device.shard)
    for (const message of [sent, held]) await claim(first, message)
    await claim(first, media, null)
    await releaseMessages(db, [{ ...sent, fence: first }])
    await storeUploadedContent(db, first, { ...media, content: Buffer.from('x') })
    await die(first)
    const second = await own(device.shard)
    expect(await claim(second, sent)).toBe(0)
    expect(await claim(second, media)).toBe(0)
    expect(await claim(second, held)).toBe(1)
    await releaseMessages(db, [{ ...held, fence: second }])
    await die(second)
    expect(await claim(await own(device.shard), held)).toBe(0)
  })

  it('are counted when the next owner releases a message that it has not claimed', async () => {
    const device = await makeDevice()
    const message = await insert(device.id, { number: '1' })
    const first = await own(device.shard)
    await claim(first, message)
    await die(first)
    const second = await own(device.shard)
    await releaseMessages(db, [{ ...message, fence: second }])
    expect(await claim(second, message)).toBe(1)
  })

  it('a claim to prepare media leaves the message cancelable, and fails when another owner has the shard', async () => {
    const device = await makeDevice()
    const message = await insert(device.id, { number: '1', type: 'image' })
    const first = await own(device.shard)
    expect(await claim(first, message, null)).toBe(0)
    const [row] = await db.$client`SELECT status FROM messages WHERE id = ${message.id}`
    expect(row?.status).toBe('queued')
    await die(first)
    await own(device.shard)
    expect(await claim(first, message)).toBeUndefined()
  })
})

describe('claims that are stored with a Signal state', () => {
  const stateOf = (deviceId: number, fence: Fence, value: string): AuthWrite => {
    return { fence, deviceId, rows: [{ type: 'session', id: 'a', value: Buffer.from(value) }] }
  }
  const storedState = async (deviceId: number) => {
    const [found] = await listAuthValues(db, [{ deviceId, type: 'session', ids: ['a'] }])
    return found?.[0]?.value.toString()
  }
  const claimOf = (message: Stored, fence: Fence) => ({
    ...message,
    fence,
    recipientJid: 'jid',
    setback: null,
  })

  it('answer in the order of the claims, and leave out a canceled message whose state is stored', async () => {
    const [one, other] = [await makeDevice(), await makeDevice()]
    const [first, second] = [await own(one.shard), await own(other.shard)]
    const [canceled, claimed] = [
      await insert(one.id, { number: '1', status: 'canceled' }),
      await insert(other.id, { number: '2' }),
    ]
    const result = await claimWithAuthWrites(
      db,
      [claimOf(canceled, first), claimOf(claimed, second)],
      [stateOf(one.id, first, 'skipped'), stateOf(other.id, second, 'used')],
    )
    expect(result).toEqual({
      claimed: [undefined, { interruptions: 0, isOptedOut: false }],
      lost: [undefined, undefined],
    })
    expect(await Promise.all([one, other].map(({ id }) => storedState(id)))).toEqual(['skipped', 'used'])
    const statuses = await db.$client`
      SELECT status, attempts, recipient_jid AS jid FROM messages WHERE id IN (${canceled.id}, ${claimed.id}) ORDER BY number`
    expect(statuses).toEqual([
      { status: 'canceled', attempts: 0, jid: null },
      { status: 'sending', attempts: 1, jid: 'jid' },
    ])
  })

  it('leave the later state when one batch has two of one contact', async () => {
    const { id, shard } = await makeDevice()
    const owner = await own(shard)
    await claimWithAuthWrites(db, [], [stateOf(id, owner, 'earlier'), stateOf(id, owner, 'later')])
    expect(await storedState(id)).toBe('later')
  })

  it('are refused with the state of a former owner, while those of another owner are stored', async () => {
    const [lost, kept] = [await makeDevice(), await makeDevice()]
    const former = await own(lost.shard)
    await die(former)
    await own(lost.shard)
    const owner = await own(kept.shard)
    const messages = [await insert(lost.id, { number: '1' }), await insert(kept.id, { number: '2' })] as const
    const result = await claimWithAuthWrites(
      db,
      [claimOf(messages[0], former), claimOf(messages[1], owner)],
      [stateOf(lost.id, former, 'late'), stateOf(kept.id, owner, 'in time')],
    )
    expect(result.claimed).toEqual([undefined, { interruptions: 0, isOptedOut: false }])
    expect(result.lost).toEqual([expect.any(OwnershipLost), undefined])
    expect(await Promise.all([lost, kept].map(({ id }) => storedState(id)))).toEqual([undefined, 'in time'])
  })
})
