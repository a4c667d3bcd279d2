import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, randomPhone, startGatewayWithOwner } from './gateway.ts'
import { titled } from './titled.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const limitReached = { status: 403, body: { code: 'device_limit_reached' } }
const deviceNotFound = { status: 404, body: { code: 'device_not_found' } }

describe('create-device', () => {
  test('returns the device as disconnected', async () => {
    const account = await gateway.createAccount()
    const { body } = await account.post('/create-device', {
      sender: '+49 151 1234-5678',
      name: 'Shop',
      cms_id: 'shop-1',
      cms_ver: '2.0',
    })
    expect(body).toEqual({
      ok: true,
      device_id: expect.any(Number),
      sender: '4915112345678',
      name: 'Shop',
      cms_id: 'shop-1',
      cms_ver: '2.0',
      status: 'disconnected',
      sending: 'active',
      proxy: null,
      rate_per_minute: 60,
      burst: 20,
      daily_cap: 0,
      new_contacts_per_day: 10,
      new_contacts_allowed: 2,
      new_contacts_used: 0,
      new_contacts_reset_at: expect.stringMatching(/T00:00:00.000Z$/),
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      last_seen_at: null,
      created: true,
    })
  })

  test('does not start the session or change the desired state', async () => {
    const account = await gateway.createAccount()
    const { body } = await account.post('/create-device', { sender: randomPhone() })
    const wished = await gateway.db.$client`
      SELECT desired, desired_rev, pairing_until FROM devices WHERE id = ${Number(body.device_id)}`
    expect(wished).toEqual([{ desired: 'unlinked', desired_rev: 0, pairing_until: null }])
  })

  test('uses the sender as default name and accepts GET', async () => {
    const account = await gateway.createAccount()
    const { body } = await account.get('/create-device', { sender: '4915112345679' })
    expect(body).toMatchObject({ name: '4915112345679', cms_id: null, cms_ver: null })
  })

  test('changes nothing for an existing sender, even at the device limit', async () => {
    const account = await gateway.createAccount({ devices_allowed: 1 })
    const first = await account.post('/create-device', { sender: '4915112345680', name: 'first' })
    const again = await account.post('/create-device', {
      sender: '004915112345680',
      name: 'again',
      cms_id: 'x',
    })
    expect(again.body).toEqual({ ...first.body, created: false })
    expect((await account.get('/user-info')).body).toMatchObject({ devices_used: 1 })
  })

  test('refuses devices beyond the limit', async () => {
    const account = await gateway.createAccount({ devices_allowed: 2 })
    await account.post('/create-device', { sender: '4915112345681' })
    await account.post('/create-device', { sender: '4915112345682' })
    expect(await account.post('/create-device', { sender: '4915112345683' })).toMatchObject(limitReached)
    const none = await gateway.createAccount({ devices_allowed: 0 })
    expect(await none.post('/create-device', { sender: '4915112345681' })).toMatchObject(limitReached)
  })

  test('enforces the limit for 50 concurrent requests', async () => {
    const account = await gateway.createAccount({ devices_allowed: 7 })
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        n % 5 === 0
          ? account
              .post('/generate-qr', { sender: `49151123400${10 + n}`, force: 'nonsense' })
              .then(() => undefined)
          : account.post('/create-device', { sender: `49151123400${10 + n}` }),
      ),
    )
    const created = answers.filter((answer) => answer?.body.created)
    expect(created).toHaveLength(7)
    expect(answers.filter((answer) => answer?.status === 403)).toHaveLength(33)
    expect((await account.get('/user-info')).body).toMatchObject({ devices_used: 7 })
  })

  test('creates one device for 20 concurrent requests with one sender', async () => {
    const account = await gateway.createAccount()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => account.post('/create-device', { sender: '4915112345684' })),
    )
    expect(new Set(answers.map(({ body }) => body.device_id)).size).toBe(1)
    expect(answers.filter(({ body }) => body.created)).toHaveLength(1)
  })

  test.each(
    [
      { sender: 'phone' },
      { sender: '4915112345685', name: 'x'.repeat(191) },
      { sender: '4915112345685', cms_id: 'x'.repeat(191) },
      { sender: '4915112345685', cms_ver: 5 },
      { sender: '4915112345685', name: 'a\0b' },
    ].map(titled),
  )('refuses %s', async (_, given) => {
    const account = await gateway.createAccount()
    expect(await account.post('/create-device', given)).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter' },
    })
  })
})

describe('info-device', () => {
  test('finds a device by sender, device_id and id, which must agree', async () => {
    const account = await gateway.createAccount()
    const sender = randomPhone()
    const { body } = await account.post('/create-device', { sender })
    const { created, ...device } = body
    const device_id = String(body.device_id)
    for (const locator of [
      { sender },
      { sender: `+${sender}` },
      { device_id },
      { id: device_id },
      { sender, device_id, id: device_id },
    ]) {
      expect((await account.get('/info-device', locator as Record<string, string>)).body).toEqual(device)
      expect((await account.post('/info-device', locator)).body).toEqual(device)
    }
    const other = await account.post('/create-device', { sender: randomPhone() })
    for (const locator of [
      { sender: String(other.body.sender), device_id },
      { device_id, id: String(other.body.device_id) },
      { device_id: '2147483647' },
      { sender: '4999999999999' },
    ]) {
      expect(await account.post('/info-device', locator)).toMatchObject(deviceNotFound)
    }
    expect(await account.get('/info-device')).toMatchObject({
      status: 400,
      body: { code: 'missing_parameter' },
    })
    expect(await account.get('/info-device', { device_id: '0' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter' },
    })
  })

  test('reports why a device is disconnected and whether it is restricted', async () => {
    const { account, deviceId } = await createSender(gateway)
    await gateway.db.$client`
      UPDATE devices SET status_reason = 'stale', restricted_until = now() + interval '1 hour', last_seen_at = now()
      WHERE id = ${deviceId}`
    const info = () => account.get('/info-device', { device_id: String(deviceId) })
    const connected = (await info()).body
    expect(connected).toMatchObject({ status: 'connected', last_seen_at: expect.stringMatching(/Z$/) })
    expect(connected).toHaveProperty('restricted_until')
    expect(connected).not.toHaveProperty('status_reason')
    await gateway.db.$client`
      UPDATE devices SET has_credentials = false, status_reason = 'logged_out', restricted_until = now()
      WHERE id = ${deviceId}`
    const disconnected = (await info()).body
    expect(disconnected).toMatchObject({ status: 'disconnected', status_reason: 'logged_out' })
    expect(disconnected).not.toHaveProperty('restricted_until')
  })

  test('reports the restriction that lasts longest, and the new chats of the present cycle', async () => {
    const { account, deviceId } = await createSender(gateway)
    const reasons = async () => {
      const { body } = await account.get('/info-device', { device_id: String(deviceId) })
      return [body.restriction_reason, body.new_chats_used, body.new_chats_total]
    }
    const set = (columns: string) =>
      gateway.db.$client.unsafe(`UPDATE devices SET ${columns} WHERE id = ${deviceId}`)
    await set(`restricted_until = now() + interval '1 hour', restriction_reason = 'reach_out_time_lock'`)
    await set(`new_chats_used = 3, new_chats_total = 9, new_chats_until = now() + interval '1 day'`)
    expect(await reasons()).toEqual(['reach_out_time_lock', 3, 9])
    await set(`new_chats_capped = true`)
    expect(await reasons()).toEqual(['new_chat_cap', 3, 9])
    await set(`new_chats_until = now()`)
    expect(await reasons()).toEqual(['reach_out_time_lock', undefined, undefined])
    await set(`restricted_until = now()`)
    expect(await reasons()).toEqual([undefined, undefined, undefined])
  })
})

test('devices lists the devices of the account by id', async () => {
  const account = await gateway.createAccount()
  expect((await account.get('/devices')).body).toEqual({
    ok: true,
    devices: [],
    has_more: false,
    next_after: null,
  })
  const senders = [randomPhone(), randomPhone(), randomPhone()]
  for (const sender of senders) await account.post('/create-device', { sender })
  // After an update, the row is the last one in the table.
  await account.post('/set-device', { sender: senders[0], name: 'Shop' })
  const { body } = await account.get('/api/devices')
  const devices = body.devices as { device_id: number; sender: string }[]
  expect(devices.map(({ sender }) => sender)).toEqual(senders)
  for (const device of devices) {
    const info = await account.get('/info-device', { sender: device.sender })
    expect(info.body).toEqual({ ok: true, ...device })
  }
})

test('devices of another account look like unknown ones in every operation', async () => {
  const { account: owner, sender, deviceId } = await createSender(gateway)
  const stranger = await gateway.createAccount()
  const locators = [{ sender }, { device_id: deviceId }, { id: deviceId }]
  for (const locator of locators) {
    expect(await stranger.post('/info-device', locator)).toMatchObject(deviceNotFound)
    expect(await stranger.post('/logout-device', locator)).toMatchObject(deviceNotFound)
  }
  const other = randomPhone()
  const unknown = await stranger.post('/send-message', {
    sender: other,
    number: '4915111111111',
    message: 'x',
  })
  const foreign = await stranger.post('/send-message', { sender, number: '4915111111111', message: 'x' })
  expect(foreign).toMatchObject({
    status: 404,
    body: { code: 'sender_not_found', error: String(unknown.body.error).replace(other, sender) },
  })
  expect((await stranger.get('/devices')).body.devices).toEqual([])
  expect((await stranger.get('/messages', { sender })).body.messages).toEqual([])
  // Both accounts may have the number, as two devices.
  const own = await stranger.post('/create-device', { sender })
  expect(own.body).toMatchObject({ created: true, status: 'disconnected' })
  expect(own.body.device_id).not.toBe(deviceId)
  expect((await owner.get('/info-device', { sender })).body).toMatchObject({
    device_id: deviceId,
    status: 'connected',
  })
})
