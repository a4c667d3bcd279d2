import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  createSender,
  type Gateway,
  randomPhone,
  recordCommands,
  startGatewayWithOwner,
  storedOf,
} from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner({
    SEND_RATE_PER_MINUTE: '30',
    SEND_BURST: '4',
    SEND_DAILY_CAP: '500',
  })
})
afterAll(() => gateway.close())

const number = '4915199999999'
const deviceNotFound = { status: 404, body: { code: 'device_not_found' } }

describe('set-device', () => {
  const defaults = { rate_per_minute: 30, burst: 4, daily_cap: 500, new_contacts_per_day: 10 }

  test('changes the given settings, keeps the others and restores the default', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    expect((await account.get('/info-device', { sender })).body).toMatchObject(defaults)
    const changed = await account.post('/set-device', {
      sender,
      name: 'Shop',
      rate_per_minute: 5,
      burst: '2',
    })
    expect(changed).toMatchObject({
      status: 200,
      body: { ok: true, device_id: deviceId, name: 'Shop', rate_per_minute: 5, burst: 2, daily_cap: 500 },
    })
    expect((await account.get('/info-device', { sender })).body).toEqual(changed.body)
    expect((await account.get('/devices')).body.devices).toEqual([
      expect.objectContaining({ name: 'Shop', rate_per_minute: 5 }),
    ])
    const reset = await account.get('/set-device', {
      device_id: String(deviceId),
      rate_per_minute: 'default',
      daily_cap: '0',
      new_contacts_per_day: '0',
    })
    expect(reset.body).toMatchObject({ name: 'Shop', rate_per_minute: 30, burst: 2, daily_cap: 0 })
    expect(reset.body).toMatchObject({ new_contacts_per_day: 0 })
    expect(reset.body).not.toHaveProperty('new_contacts_allowed')
    const again = await account.post('/set-device', {
      sender,
      burst: 'default',
      daily_cap: 'default',
      new_contacts_per_day: 'default',
    })
    expect(again.body).toMatchObject({ name: 'Shop', ...defaults })
  })

  test('notifies the owner', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const commands = await recordCommands(gateway, deviceId)
    try {
      await account.post('/set-device', { sender, rate_per_minute: 5 })
      await vi.waitFor(() => expect(commands.seen).toEqual(['apply-settings']), eventually)
    } finally {
      await commands.close()
    }
  })

  test.each([
    [{ rate_per_minute: -1 }, 'rate_per_minute'],
    [{ rate_per_minute: 'fast' }, 'rate_per_minute'],
    [{ rate_per_minute: 1.5 }, 'rate_per_minute'],
    [{ burst: 0 }, 'burst'],
    [{ daily_cap: ' ' }, 'daily_cap'],
    [{ new_contacts_per_day: -1 }, 'new_contacts_per_day'],
    [{ name: 5 }, 'name'],
    [{ name: 'x'.repeat(191) }, 'name'],
  ])('refuses %j', async (given, parameter) => {
    const { account, sender } = await createSender(gateway)
    expect(await account.post('/set-device', { sender, ...given })).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: [{ parameter }] },
    })
  })

  test('requires a device and at least one setting', async () => {
    const { account, sender } = await createSender(gateway)
    const missing = { status: 400, body: { code: 'missing_parameter' } }
    expect(await account.post('/set-device', { sender })).toMatchObject(missing)
    expect(await account.post('/set-device', { name: 'x' })).toMatchObject(missing)
  })

  test('does not affect the device of another account', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const stranger = await gateway.createAccount()
    for (const locator of [{ sender }, { device_id: deviceId }]) {
      expect(await stranger.post('/set-device', { ...locator, name: 'mine' })).toMatchObject(deviceNotFound)
    }
    expect((await account.get('/info-device', { sender })).body.name).toBe(sender)
  })
})

describe('delete-device', () => {
  test('deletes the device, keeps its history and returns 404 when repeated', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    await account.post('/send-message', { sender, number, message: 'Hello' })
    expect(await account.post('/delete-device', { device_id: deviceId })).toMatchObject({
      status: 200,
      body: { ok: true, device_id: deviceId, sender, deleted: true },
    })
    for (const locator of [{ sender }, { device_id: String(deviceId) }]) {
      for (const path of ['/info-device', '/logout-device', '/delete-device']) {
        expect(await account.get(path, locator)).toMatchObject(deviceNotFound)
      }
      expect(await account.post('/set-device', { ...locator, name: 'x' })).toMatchObject(deviceNotFound)
    }
    expect((await account.get('/devices')).body.devices).toEqual([])
    expect(await account.post('/send-message', { sender, number, message: 'x' })).toMatchObject({
      status: 404,
      body: { code: 'sender_not_found' },
    })
    expect(await account.post('/check-number', { sender, number })).toMatchObject({
      status: 404,
      body: { code: 'sender_not_found' },
    })
    expect(await storedOf(account)).toMatchObject([{ device_id: deviceId, sender, message: 'Hello' }])
  })

  test('frees its slot and its sender at once', async () => {
    const { account, sender, deviceId } = await createSender(gateway, { devices_allowed: 1 })
    await account.post('/delete-device', { sender })
    expect((await account.get('/user-info')).body).toMatchObject({ devices_used: 0 })
    const again = await account.post('/create-device', { sender, name: 'again' })
    expect(again.body).toMatchObject({ created: true, name: 'again', status: 'disconnected' })
    expect(again.body.device_id).not.toBe(deviceId)
    expect((await account.get('/user-info')).body).toMatchObject({ devices_used: 1 })
    expect((await account.get('/devices')).body.devices).toMatchObject([{ device_id: again.body.device_id }])
    // The old device waits for its owner, which has been notified.
    const rows = await gateway.db.$client`
      SELECT desired, revoked_generation = link_generation AS revoked FROM devices WHERE id = ${deviceId}`
    expect(rows).toEqual([{ desired: 'unlinked', revoked: true }])
  })

  test('notifies the owner', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const commands = await recordCommands(gateway, deviceId)
    try {
      await account.post('/delete-device', { sender })
      await vi.waitFor(() => expect(commands.seen).toEqual(['end-session']), eventually)
    } finally {
      await commands.close()
    }
  })

  test('takes effect once for ten concurrent requests', async () => {
    const { account, sender } = await createSender(gateway)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => account.post('/delete-device', { sender })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9)
  })

  test('does not affect the device of another account', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const stranger = await gateway.createAccount()
    for (const locator of [{ sender }, { device_id: deviceId }, { id: deviceId }]) {
      expect(await stranger.post('/delete-device', locator)).toMatchObject(deviceNotFound)
    }
    expect((await account.get('/info-device', { sender })).body.status).toBe('connected')
  })
})

describe('check-number', () => {
  /** Acts as an owner that knows the result. */
  async function answerAs(deviceId: number, jid: string | null) {
    const commands = await recordCommands(gateway, deviceId, (command) => {
      if (command.kind === 'check-number') {
        void gateway.events.publish(deviceId, { kind: 'number', number: command.number, jid })
      }
    })
    return commands
  }

  test.each([
    ['4915199999999@s.whatsapp.net', { exists: true, jid: '4915199999999@s.whatsapp.net' }],
    [null, { exists: false }],
  ])('returns what the owner reports: %j', async (jid, expected) => {
    const { account, sender, deviceId } = await createSender(gateway)
    const owner = await answerAs(deviceId, jid)
    try {
      const answer = await account.post('/check-number', { sender, number: '+49 151 99999999' })
      expect(answer).toMatchObject({ status: 200, body: { ok: true, number, ...expected } })
      expect('jid' in answer.body).toBe(jid !== null)
    } finally {
      await owner.close()
    }
  })

  test('checks many numbers of one device concurrently', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const owner = await answerAs(deviceId, null)
    try {
      const numbers = Array.from({ length: 20 }, (_, n) => `49151888888${10 + n}`)
      const answers = await Promise.all(
        numbers.map((each) => account.get('/check-number', { sender, number: each })),
      )
      expect(answers.map(({ body }) => body.number)).toEqual(numbers)
    } finally {
      await owner.close()
    }
  })

  test('returns 503 in time when the owner does not respond', async () => {
    const { account, sender } = await createSender(gateway)
    const answer = await account.post('/check-number', { sender, number })
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  })

  test('requires a linked sender of the account', async () => {
    const account = await gateway.createAccount()
    const sender = randomPhone()
    const check = () => account.post('/check-number', { sender, number })
    expect(await check()).toMatchObject({ status: 404, body: { code: 'sender_not_found' } })
    await account.post('/create-device', { sender })
    expect(await check()).toMatchObject({ status: 409, body: { code: 'sender_not_connected' } })
    const foreign = await createSender(gateway)
    expect(await account.post('/check-number', { sender: foreign.sender, number })).toMatchObject({
      status: 404,
      body: { code: 'sender_not_found' },
    })
    expect(await account.post('/check-number', { sender, number: 'x' })).toMatchObject({ status: 400 })
  })
})
