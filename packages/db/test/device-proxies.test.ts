import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { findProxyKey, recordMasterKey } from '../src/queries/credentials/master-keys.ts'
import { findDeviceStates } from '../src/queries/devices/device-owner-view.ts'
import { setProxy } from '../src/queries/devices/device-proxies.ts'
import { findDevice } from '../src/queries/devices/devices.ts'
import { openOwnedDevices } from './owned-devices.ts'

const proxy = { shown: 'http://proxy.example.com:8080', sealed: Buffer.from('sealed') }
let db: Database
let devices: Awaited<ReturnType<typeof openOwnedDevices>>
let accountId: number
let deviceId: number

beforeAll(async () => {
  devices = await openOwnedDevices()
  ;({ db, accountId } = devices)
})
afterAll(() => devices.drop())
beforeEach(async () => {
  ;({ deviceId } = await devices.addDevice())
})

const shown = async () => (await findDevice(db, accountId, { deviceId }, 0))?.proxy
async function ownerView() {
  const [state] = await findDeviceStates(db, [deviceId])
  return state && { sealedProxy: state.sealedProxy, sessionRev: state.sessionRev }
}

test('the account sees what is shown, and the owner the rest, with a new revision for each change', async () => {
  expect([await shown(), await ownerView()]).toEqual([null, { sealedProxy: null, sessionRev: 0 }])
  await setProxy(db, accountId, deviceId, proxy)
  expect([await shown(), await ownerView()]).toEqual([
    proxy.shown,
    { sealedProxy: proxy.sealed, sessionRev: 1 },
  ])
  await setProxy(db, accountId, deviceId, { shown: 'other', sealed: Buffer.from('other') })
  expect([await shown(), await ownerView()]).toEqual([
    'other',
    { sealedProxy: Buffer.from('other'), sessionRev: 2 },
  ])
  await setProxy(db, accountId, deviceId, null)
  expect([await shown(), await ownerView()]).toEqual([null, { sealedProxy: null, sessionRev: 3 }])
})

test('another account changes nothing', async () => {
  await setProxy(db, accountId, deviceId, proxy)
  await setProxy(db, accountId + 1, deviceId, null)
  await setProxy(db, accountId + 1, deviceId, { shown: 'other', sealed: Buffer.from('other') })
  expect([await shown(), await ownerView()]).toEqual([
    proxy.shown,
    { sealedProxy: proxy.sealed, sessionRev: 1 },
  ])
})

test('a proxy goes with its device', async () => {
  await setProxy(db, accountId, deviceId, proxy)
  await db.$client`DELETE FROM devices WHERE id = ${deviceId}`
  expect(await db.$client`SELECT FROM device_proxies WHERE device_id = ${deviceId}`).toHaveLength(0)
})

test('proxies are encrypted for the newest key that a running worker has', async () => {
  expect(await findProxyKey(db)).toBeUndefined()
  const sql = db.$client
  await sql`INSERT INTO master_keys (id) VALUES ('00000001')`
  expect(await findProxyKey(db)).toBeUndefined()
  for (const id of ['00000001', '00000002', '00000003'])
    await recordMasterKey(db, id, Buffer.from(`public ${id}`))
  await sql`UPDATE master_keys SET used_since = now() - (9 - id::int) * interval '1 day'`
  expect((await findProxyKey(db))?.masterKeyId).toBe('00000003')
  await sql`UPDATE workers SET master_key_id = '00000002'`
  expect(await findProxyKey(db)).toEqual({
    masterKeyId: '00000002',
    publicKey: Buffer.from('public 00000002'),
  })
})
