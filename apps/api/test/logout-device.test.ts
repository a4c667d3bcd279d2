import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner, wipeDevice } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const deviceNotFound = { status: 404, body: { code: 'device_not_found' } }

describe('logout-device', () => {
  test('returns disconnected at once and can be repeated', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    expect((await account.get('/info-device', { sender })).body.status).toBe('connected')
    const answer = { status: 200, body: { ok: true, device_id: deviceId, sender, status: 'disconnected' } }
    expect(await account.post('/logout-device', { device_id: deviceId })).toMatchObject(answer)
    expect((await account.get('/info-device', { sender })).body.status).toBe('disconnected')
    expect(await account.post('/logout-device', { sender })).toMatchObject(answer)
    await wipeDevice(gateway, deviceId)
    expect(await account.get('/logout-device', { device_id: String(deviceId) })).toMatchObject(answer)
    expect((await account.get('/devices')).body.devices).toHaveLength(1)
  })

  test('revokes the link and notifies the owner once', async () => {
    const { account, deviceId } = await createSender(gateway)
    const read = async () => {
      const [row] = await gateway.db.$client`
        SELECT desired, desired_rev, pairing_until, link_generation, revoked_generation FROM devices
        WHERE id = ${deviceId}`
      return row
    }
    const before = await read()
    await account.post('/logout-device', { device_id: deviceId })
    const after = await read()
    expect(after).toEqual({
      desired: 'unlinked',
      desired_rev: before?.desired_rev + 1,
      pairing_until: null,
      link_generation: 1,
      revoked_generation: 1,
    })
    await account.post('/logout-device', { device_id: deviceId })
    expect(await read()).toEqual(after)
  })

  test('returns 404 for an unknown device', async () => {
    const account = await gateway.createAccount()
    expect(await account.post('/logout-device', { device_id: 2147483647 })).toMatchObject(deviceNotFound)
    expect(await account.post('/logout-device', {})).toMatchObject({ status: 400 })
  })
})
