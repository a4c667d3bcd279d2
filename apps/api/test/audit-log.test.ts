import { randomBytes } from 'node:crypto'
import { recordMasterKey } from '@wagate/db/queries/credentials/master-keys'
import { makeBoxKey } from '@wagate/shared/sealed-box'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bootstrapAdmin, createAdmin } from '../src/credentials/bootstrap-admin.ts'
import { createSender, type Gateway, linkDevice, randomPhone, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

type Entry = Record<string, unknown>

async function entriesBy(accountId: unknown): Promise<Entry[]> {
  return gateway.db.$client<Entry[]>`
    SELECT account_id, key_id, operation, target, result, ip, request_id, exchange_id FROM audit_log
    WHERE account_id = ${Number(accountId)} ORDER BY id`
}

const brief = ({ operation, target, result }: Entry) => `${operation} ${target} ${result}`

test('records who changed what, from where and in which request', async () => {
  const { body: me } = await gateway.admin.get('/user-info')
  const { body: key } = await gateway.admin.post('/create-key', {}, { 'x-request-id': 'req-1' })
  const [entry] = (await entriesBy(me.id)).slice(-1)
  expect(entry).toEqual({
    account_id: me.id,
    key_id: expect.any(Number),
    operation: 'create-key',
    target: `key:${key.key_id}`,
    result: 'created',
    ip: '127.0.0.1',
    request_id: 'req-1',
    exchange_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  // A caller may reuse a request id, which must not make two entries look like one request.
  await gateway.admin.post('/create-key', {}, { 'x-request-id': 'req-1' })
  const [first, second] = (await entriesBy(me.id)).slice(-2)
  expect(first?.exchange_id).not.toBe(second?.exchange_id)
})

test('contains every change of accounts, keys and devices, but no reads, failures or replays', async () => {
  const admin = await gateway.createAccount({ role: 'ADMIN' })
  const email = 'audited@example.com'
  const user = { email, password: 'correct horse', idempotency_key: 'k' }
  const { body: created } = await admin.post('/create-user', user)
  await admin.post('/create-user', user)
  await admin.post('/create-user', { email, password: 'correct horse' })
  await admin.post('/update-user', { user_id: created.user_id, role: 'ADMIN' })
  await admin.post('/update-user', { user_id: created.user_id, role: 'ADMIN' })
  await admin.post('/update-user', { user_id: 1, role: 'ADMIN' })
  const { body: key } = await admin.post('/create-key')
  await admin.post('/revoke-key', { key_id: key.key_id })
  await admin.post('/revoke-key', { key_id: key.key_id })
  const sender = randomPhone()
  const { body: device } = await admin.post('/create-device', { sender })
  await admin.post('/create-device', { sender })
  await admin.post('/set-device', { sender, name: 'till' })
  await admin.post('/set-device', { sender, name: 'till' })
  await linkDevice(gateway, Number(device.device_id))
  await admin.post('/logout-device', { sender })
  await admin.post('/logout-device', { sender })
  await admin.post('/delete-device', { sender })
  await admin.post('/delete-device', { sender })
  await admin.get('/devices')
  await admin.get('/users')
  expect((await entriesBy(admin.userId)).map(brief)).toEqual([
    `create-user account:${created.user_id} created`,
    `update-user account:${created.user_id} changed`,
    `create-key key:${key.key_id} created`,
    `revoke-key key:${key.key_id} revoked`,
    `create-device device:${device.device_id} created`,
    `set-device device:${device.device_id} changed`,
    `logout-device device:${device.device_id} unlinked`,
    `delete-device device:${device.device_id} deleted`,
  ])
})

test('says what was changed, but no secret, and nothing of what was so before', async () => {
  await recordMasterKey(gateway.db, '0badcafe', makeBoxKey(randomBytes(32)).publicKey)
  const { account, sender } = await createSender(gateway)
  const number = '4915112345678'
  for (const name of ['opt-in', 'opt-out', 'opt-out', 'opt-in', 'opt-in']) {
    await account.post(`/${name}`, { number })
  }
  await account.post('/set-device', { sender, name: 'till', rate_per_minute: 5 })
  const url = 'https://shop.example.com/hook?token=secret'
  const { body } = await account.post('/set-webhook', { url })
  const { webhook_id } = body
  await account.post('/set-webhook', { webhook_id, url })
  await account.post('/set-webhook', { webhook_id, url: `${url}2`, events_max: 5, enabled: false })
  await account.post('/set-webhook', { webhook_id, name: 'CRM', enabled: false })
  const rows = await gateway.db.$client<Entry[]>`
    SELECT operation, detail FROM audit_log WHERE account_id = ${account.userId} ORDER BY id`
  const origin = 'https://shop.example.com'
  expect([...rows]).toEqual([
    { operation: 'create-device', detail: null },
    { operation: 'opt-out', detail: { number } },
    { operation: 'opt-in', detail: { number } },
    { operation: 'set-device', detail: { parameters: ['name', 'rate_per_minute'] } },
    { operation: 'set-webhook', detail: { parameters: ['url', 'enabled'], origin } },
    { operation: 'set-webhook', detail: { parameters: ['url', 'events_max', 'enabled'], origin } },
    { operation: 'set-webhook', detail: { parameters: ['name'] } },
  ])
})

test('an account makes a limited number of changes in a day, and can always revoke its keys', async () => {
  const limited = await startGateway({ LIMIT_ACCOUNT_CHANGES_PER_DAY: '4' })
  try {
    const account = await limited.createAccount()
    const { body: key } = await account.post('/create-key')
    const change = (number: string) => account.post('/opt-out', { number })
    for (const number of ['4915112345671', '4915112345672', '4915112345673']) {
      expect((await change(number)).status).toBe(200)
    }
    expect(await change('4915112345674')).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', limit: 'account-changes' },
    })
    expect((await account.get('/opt-outs')).body.opt_outs).toHaveLength(3)
    expect((await change('4915112345673')).status).toBe(200)
    expect((await account.post('/revoke-key', { key_id: key.key_id })).status).toBe(200)
  } finally {
    await limited.close()
  }
})

test('contains forced QR codes and the device that generate-qr created', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  await account.post('/generate-qr', { sender })
  // No worker plays along: the request is aborted, its change remains.
  const given = new AbortController()
  const forced = account.request(`/generate-qr?sender=${sender}&force=true`, { signal: given.signal })
  const other = account.request(`/generate-qr?sender=${randomPhone()}`, { signal: given.signal })
  await expect.poll(async () => (await entriesBy(account.userId)).length, { timeout: 5000 }).toBe(3)
  given.abort()
  await Promise.allSettled([forced, other])
  expect((await entriesBy(account.userId)).map(brief).sort()).toEqual([
    `create-device device:${deviceId} created`,
    `generate-qr device:${deviceId} forced`,
    `generate-qr device:${deviceId + 1} created`,
  ])
})

test('contains ADMINs created on the command line', async () => {
  await createAdmin(gateway.databaseUrl, 'operator@example.com')
  await createAdmin(gateway.databaseUrl, 'operator@example.com')
  await bootstrapAdmin(gateway.databaseUrl, 'late@example.com')
  const entries = await gateway.db.$client<Entry[]>`
    SELECT operation, result FROM audit_log WHERE account_id IS NULL AND key_id IS NULL ORDER BY id`
  // The first one is the ADMIN of this gateway.
  expect(entries).toEqual(Array(2).fill({ operation: 'create-admin', result: 'created' }))
})

test('is written together with the change or not at all', async () => {
  const account = await gateway.createAccount()
  const sender = randomPhone()
  await gateway.db
    .$client`ALTER TABLE audit_log ADD CONSTRAINT planted CHECK (operation <> 'create-device') NOT VALID`
  try {
    expect((await account.post('/create-device', { sender })).status).toBe(503)
    expect((await account.get('/devices')).body.devices).toEqual([])
  } finally {
    await gateway.db.$client`ALTER TABLE audit_log DROP CONSTRAINT planted`
  }
})

test('contains nothing about a change whose commit failed', async () => {
  const account = await gateway.createAccount()
  await gateway.db.$client.unsafe(`
    CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$;
    CREATE CONSTRAINT TRIGGER planted AFTER INSERT ON devices DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION planted()`)
  try {
    expect((await account.post('/create-device', { sender: randomPhone() })).status).toBe(503)
    expect(await entriesBy(account.userId)).toEqual([])
  } finally {
    await gateway.db.$client.unsafe('DROP TRIGGER planted ON devices; DROP FUNCTION planted')
  }
})

test('contains no secret', async () => {
  const password = 'a password to look for'
  const { apiKey, userId } = await gateway.createAccount({ password })
  await gateway.admin.post('/create-key', { user_id: userId, name: 'some name' })
  const rows = await gateway.db.$client<{ text: string }[]>`SELECT audit_log::text AS text FROM audit_log`
  const all = rows.map(({ text }) => text).join('\n')
  for (const secret of [apiKey, apiKey.slice(4, 40), password]) expect(all).not.toContain(secret)
})

test('is append-only', async () => {
  const sql = gateway.db.$client
  const refused = /append-only/
  await expect(sql`UPDATE audit_log SET result = 'nothing'`).rejects.toThrow(refused)
  await expect(sql`DELETE FROM audit_log`).rejects.toThrow(refused)
  await expect(sql`TRUNCATE audit_log`).rejects.toThrow(refused)
})
