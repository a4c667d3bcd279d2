import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findLinkHolders, insertPairingLink, openPairingLink } from '../src/queries/devices/pairing-links.ts'
import { beginning, deleteOldPairingLinks } from '../src/queries/retention/housekeeping.ts'
import { openOwnedDevices } from './owned-devices.ts'

let devices: Awaited<ReturnType<typeof openOwnedDevices>>
beforeAll(async () => {
  devices = await openOwnedDevices()
})
afterAll(() => devices.drop())

const makeHash = () => createHash('sha256').update(randomBytes(8)).digest()

/** Returns the hash and the id of a new link. */
async function insertLink(forMs = 60_000, page = {}) {
  const { db, accountId } = devices
  const { deviceId } = await devices.addDevice()
  const hash = makeHash()
  const [key] = await db.$client<{ id: number }[]>`SELECT id FROM api_keys`
  const link = { deviceId, keyId: key?.id ?? 0, hash, forMs, page }
  await db.transaction((tx) => insertPairingLink(tx, accountId, link))
  const found = (await findLinkHolders(db, [hash.toString('base64')])).get(hash.toString('base64'))
  return { hash, deviceId, id: found?.link.id ?? 0, found }
}

const open = (accountId: number, id: number, session = makeHash()) =>
  devices.db.transaction((tx) => openPairingLink(tx, accountId, id, session))

it('opens a link once, and only for its account', async () => {
  const { id } = await insertLink(60_000, { title: 'Shop' })
  expect(await open(devices.accountId + 1, id)).toEqual({ outcome: 'expired' })
  const opened = await open(devices.accountId, id)
  expect(opened).toMatchObject({ outcome: 'opened', page: { title: 'Shop' } })
  expect(opened.outcome === 'opened' && opened.leftMs).toBeGreaterThan(50_000)
  expect(await open(devices.accountId, id)).toEqual({ outcome: 'used' })
  expect(await open(devices.accountId, (await insertLink(0)).id)).toEqual({ outcome: 'expired' })
})

it('finds a link and its session by their own hashes', async () => {
  const { hash, id, deviceId, found } = await insertLink()
  expect(found?.link).toMatchObject({ credential: 'link', deviceId })
  const session = makeHash()
  await open(devices.accountId, id, session)
  const names = [hash, session, makeHash()].map((each) => each.toString('base64'))
  const holders = await findLinkHolders(devices.db, names.slice(1))
  expect([...holders.values()].map(({ link }) => link.credential)).toContain('session')
  expect(holders.get(names[1] ?? '')?.keyExpiresAt).toBeInstanceOf(Date)
  expect(holders.get(names[2] ?? '')).toBeUndefined()
})

it('keeps links for a day', async () => {
  const { db } = devices
  const [old, young] = [await insertLink(), await insertLink()]
  await db.$client`UPDATE pairing_links SET created_at = now() - interval '25 hours' WHERE id = ${old.id}`
  await db.$client`UPDATE pairing_links SET created_at = now() - interval '23 hours' WHERE id = ${young.id}`
  expect((await deleteOldPairingLinks(db, beginning)).deleted).toBe(1)
  const left = await db.$client`SELECT id FROM pairing_links WHERE id IN (${old.id}, ${young.id})`
  expect(left.map(({ id }) => id)).toEqual([young.id])
})
