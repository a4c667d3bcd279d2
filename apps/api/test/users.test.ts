import { findDeviceStates } from '@wagate/db/queries/devices/device-owner-view'
import { makeClient } from '@wagate/test-kit/http-client'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { atOnce } from './at-once.ts'
import {
  createSender,
  type Gateway,
  type GatewayWithReplica,
  randomPhone,
  recordCommands,
  startGateway,
  startGatewayWithReplica,
} from './gateway.ts'

let gateway: GatewayWithReplica
beforeAll(async () => {
  gateway = await startGatewayWithReplica()
})
afterAll(() => gateway.close())

type User = Record<string, unknown> & { user_id: number }

describe('users', () => {
  test('lists the accounts with their usage and limits, newest first, in pages', async () => {
    const made = [
      await gateway.createAccount({ devices_allowed: 3, expiry: '2099-01-01T00:00:00Z' }),
      await gateway.createAccount({ role: 'ADMIN' }),
      await gateway.createAccount(),
    ]
    await made[0]?.post('/create-device', { sender: randomPhone() })
    const all: User[] = []
    let page: Record<string, unknown>
    let before: unknown
    do {
      const query = { limit: '2', ...(before ? { before: String(before) } : {}) }
      page = (await gateway.admin.get('/users', query)).body
      before = page.next_before
      expect((page.users as User[]).length).toBeLessThanOrEqual(2)
      all.push(...(page.users as User[]))
    } while (page.has_more)
    const ids = all.map(({ user_id }) => user_id)
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a))
    expect((await gateway.admin.get('/api/users')).body.users).toEqual(all)
    expect(all.find(({ user_id }) => user_id === made[0]?.userId)).toEqual({
      user_id: made[0]?.userId,
      email: expect.stringContaining('@example.com'),
      role: 'USER',
      devices_used: 1,
      devices_allowed: 3,
      expiry: '2099-01-01T00:00:00.000Z',
      disabled_at: null,
      rate_per_minute: 60,
      burst: 20,
      daily_cap: 0,
      new_contacts_per_day: 10,
      created_at: expect.any(String),
    })
    expect(all.find(({ user_id }) => user_id === made[1]?.userId)).toMatchObject({
      role: 'ADMIN',
      expiry: null,
    })
  })

  test('and update-user require an ADMIN', async () => {
    const account = await gateway.createAccount()
    const mine = { user_id: account.userId, role: 'ADMIN', devices_allowed: 1000, expiry: 'never' }
    for (const answer of [await account.get('/users'), await account.post('/update-user', mine)]) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'admin_required' } })
    }
    expect((await account.get('/user-info')).body).toMatchObject({ level: 'USER', devices_allowed: 10 })
  })

  test('are not returned to an ADMIN whose account has expired', async () => {
    const admin = await gateway.createAccount({ role: 'ADMIN', expiry: '2020-01-01T00:00:00Z' })
    expect(await admin.get('/users')).toMatchObject({ status: 403, body: { code: 'account_expired' } })
  })
})

describe('update-user', () => {
  test('changes only the given ones of role, devices and expiry', async () => {
    const { userId } = await gateway.createAccount()
    const update = async (fields: Record<string, unknown>) =>
      (await gateway.admin.post('/update-user', { user_id: userId, ...fields })).body
    expect(await update({ role: 'admin' })).toMatchObject({ ok: true, role: 'ADMIN', devices_allowed: 10 })
    expect(await update({ devices_allowed: 0, role: 'USER' })).toMatchObject({
      role: 'USER',
      devices_allowed: 0,
    })
    expect(await update({ expiry: '2099-01-01T00:00:00Z' })).toMatchObject({
      expiry: '2099-01-01T00:00:00.000Z',
    })
    expect(await update({ role: 'USER' })).toMatchObject({
      expiry: '2099-01-01T00:00:00.000Z',
      devices_allowed: 0,
    })
    expect(await update({ expiry: 'never' })).toMatchObject({ expiry: null, user_id: userId })
  })

  test('takes effect in every process: role, expiry and devices', async () => {
    const account = await gateway.createAccount({ role: 'ADMIN' })
    const everywhere = [gateway.url, gateway.replica.url].map((url) => makeClient(url, account.apiKey))
    const felt = async (path: string, status: number, fields: Record<string, unknown>) => {
      // The account is now cached everywhere, for longer than the wait below.
      for (const client of everywhere) await client.get('/user-info')
      await gateway.admin.post('/update-user', { user_id: account.userId, ...fields })
      for (const client of everywhere) {
        await vi.waitFor(async () => expect((await client.get(path)).status).toBe(status), {
          timeout: 2500,
          interval: 20,
        })
      }
    }
    await felt('/users', 403, { role: 'USER' })
    await felt('/users', 200, { role: 'ADMIN' })
    const device = `/create-device?sender=${randomPhone()}`
    await felt(device, 403, { expiry: '2020-01-01T00:00:00Z' })
    for (const client of everywhere) expect((await client.get('/user-info')).status).toBe(200)
    await felt(device, 200, { expiry: 'never' })
    await felt(`/create-device?sender=${randomPhone()}`, 403, { devices_allowed: 1 })
  })

  test('sets the pacing of senders, which may be slower but never faster', async () => {
    const { account, sender: paced } = await createSender(gateway)
    const sender = randomPhone()
    await account.post('/create-device', { sender })
    await account.post('/set-device', { sender: paced, rate_per_minute: 7, burst: 3 })
    const update = async (fields: Record<string, unknown>) =>
      (await gateway.admin.post('/update-user', { user_id: account.userId, ...fields })).body
    const paceOf = async (number: string) => (await account.get('/info-device', { sender: number })).body

    const pace = { rate_per_minute: 12, burst: 4, daily_cap: 100, new_contacts_per_day: 6 }
    expect(await update(pace)).toMatchObject({ ok: true, ...pace, role: 'USER' })
    const [shown] = (await gateway.admin.get('/users', { before: String(account.userId + 1), limit: '1' }))
      .body.users as User[]
    expect(shown).toMatchObject({ user_id: account.userId, ...pace })
    expect(await paceOf(sender)).toMatchObject(pace)
    expect(await paceOf(paced)).toMatchObject({ rate_per_minute: 7, burst: 3, daily_cap: 100 })
    expect((await account.get('/devices')).body.devices).toMatchObject([
      { sender: paced, rate_per_minute: 7, daily_cap: 100 },
      { sender, ...pace },
    ])

    for (const wanted of [13, 0]) {
      const { body } = await account.post('/set-device', {
        sender: paced,
        rate_per_minute: wanted,
        daily_cap: 0,
      })
      expect(body).toMatchObject({ rate_per_minute: 12, daily_cap: 100 })
      expect(body.warnings).toEqual([
        'rate_per_minute is 12: an ADMIN has set a lower limit for the account.',
        'daily_cap is 100: an ADMIN has set a lower limit for the account.',
      ])
      const [owner] = await findDeviceStates(gateway.db, [Number(body.device_id)])
      expect(owner).toMatchObject({ ratePerMinute: 12, burst: 3, dailyCap: 100 })
    }
    await account.post('/set-device', { sender: paced, rate_per_minute: 'default', daily_cap: 'default' })
    expect(await paceOf(paced)).toMatchObject({ rate_per_minute: 12, burst: 3 })
    expect(await update({ rate_per_minute: 0, burst: 'default' })).toMatchObject({
      rate_per_minute: 0,
      burst: 20,
      daily_cap: 100,
    })
    expect(await paceOf(sender)).toMatchObject({ rate_per_minute: 0, burst: 20, daily_cap: 100 })
    const stranger = await createSender(gateway)
    expect((await stranger.account.get('/info-device', { sender: stranger.sender })).body).toMatchObject({
      rate_per_minute: 60,
      burst: 20,
      daily_cap: 0,
    })
  })

  test('notifies the owners of the senders when the pacing changes, and only then', async () => {
    const { account, deviceId } = await createSender(gateway)
    const commands = await recordCommands(gateway, deviceId)
    try {
      const update = (fields: Record<string, unknown>) =>
        gateway.admin.post('/update-user', { user_id: account.userId, ...fields })
      await update({ devices_allowed: 9 })
      await update({ daily_cap: 5 })
      await vi.waitFor(() => expect(commands.seen).toEqual(['apply-settings']), eventually)
    } finally {
      await commands.close()
    }
  })

  test.each([
    { user_id: 0 },
    { role: 'OWNER' },
    { devices_allowed: -1 },
    { expiry: 'soon' },
    { expiry: ' ' },
    { rate_per_minute: -1 },
    { burst: 0 },
    { daily_cap: 'many' },
  ])('refuses %j', async (wrong) => {
    const { userId } = await gateway.createAccount()
    expect(await gateway.admin.post('/update-user', { user_id: userId, ...wrong })).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: [{ parameter: Object.keys(wrong)[0] }] },
    })
  })

  test('refuses a request without changes', async () => {
    const { userId } = await gateway.createAccount()
    expect(await gateway.admin.post('/update-user', { user_id: userId })).toMatchObject({
      status: 400,
      body: { code: 'missing_parameter' },
    })
  })

  test('returns 404 for an unknown account', async () => {
    expect(await gateway.admin.post('/update-user', { user_id: 2 ** 31 - 1, role: 'USER' })).toMatchObject({
      status: 404,
      body: { code: 'user_not_found' },
    })
  })
})

test('one active ADMIN always remains, even when all demote each other concurrently', async () => {
  const alone = await startGateway()
  try {
    const { body } = await alone.admin.get('/user-info')
    const refused = { status: 409, body: { code: 'last_admin' } }
    const demote = (client: Gateway['admin'], user_id: unknown) =>
      client.post('/update-user', { user_id, role: 'USER' })
    expect(await demote(alone.admin, body.id)).toMatchObject(refused)
    const past = { user_id: body.id, expiry: '2020-01-01T00:00:00Z' }
    expect(await alone.admin.post('/update-user', past)).toMatchObject(refused)

    // An ADMIN whose account has expired does not count as active.
    await alone.createAccount({ role: 'ADMIN', expiry: '2020-01-01T00:00:00Z' })
    expect(await demote(alone.admin, body.id)).toMatchObject(refused)

    const second = await alone.createAccount({ role: 'ADMIN' })
    await second.get('/user-info')
    const hold = `SELECT FROM accounts WHERE role = 'ADMIN'`
    const answers = await atOnce(alone, { hold, waiting: 2 }, () =>
      Promise.all([demote(alone.admin, second.userId), demote(second, body.id)]),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const [row] = await alone.db.$client<{ count: number }[]>`
      SELECT count(*)::int FROM accounts WHERE role = 'ADMIN' AND expires_at IS NULL`
    expect(row?.count).toBe(1)
  } finally {
    await alone.close()
  }
})
