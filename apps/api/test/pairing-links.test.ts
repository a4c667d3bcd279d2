import { makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../src/operations.ts'
import { type Gateway, linkDevice, randomPhone, startGatewayWithOwner } from './gateway.ts'
import { showQr } from './play-pairing.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner({ PUBLIC_URL: 'https://wa.example.com/' })
})
afterAll(() => gateway.close())

type Account = Awaited<ReturnType<Gateway['createAccount']>>

async function createLink(account: Account, fields: Record<string, unknown> = { sender: randomPhone() }) {
  const { status, body } = await account.post('/create-link', fields)
  expect(status, JSON.stringify(body)).toBe(200)
  const secret = new URL(String(body.url)).hash.slice(1)
  return { ...body, secret, deviceId: Number(body.device_id), sender: String(body.sender) }
}

const open = (secret: string) => makeClient(gateway.url, secret).post('/open-link')

/** A client with the session of a new link. */
async function openSession(account: Account, fields?: Record<string, unknown>) {
  const link = await createLink(account, fields)
  const { body } = await open(link.secret)
  return { ...link, session: makeClient(gateway.url, String(body.session)) }
}

describe('create-link', () => {
  test('creates the sender and returns a URL with the secret in the fragment', async () => {
    const account = await gateway.createAccount()
    const sender = randomPhone()
    const { body } = await account.post('/create-link', { sender, name: 'Shop' })
    expect(body).toMatchObject({ ok: true, sender, name: 'Shop', expires_in: 600 })
    expect(body.url).toMatch(/^https:\/\/wa\.example\.com\/link#wag_link_\w{49}$/)
    const { body: listed } = await account.get('/devices')
    expect(listed.devices).toEqual([expect.objectContaining({ device_id: body.device_id, name: 'Shop' })])
  })

  test('takes the ID of a device, and no device of another account', async () => {
    const [owner, other] = [await gateway.createAccount(), await gateway.createAccount()]
    const { deviceId, sender } = await createLink(owner)
    expect(await createLink(owner, { device_id: deviceId })).toMatchObject({ sender })
    const foreign = await other.post('/create-link', { device_id: deviceId })
    const unknown = await other.post('/create-link', { device_id: 2_000_000_000 })
    expect(foreign).toMatchObject({ status: 404, body: { code: 'device_not_found' } })
    expect(foreign.body.error).toBe(unknown.body.error)
    expect(await other.post('/create-link')).toMatchObject({
      status: 400,
      body: { code: 'missing_parameter' },
    })
  })

  test('stores and logs no secret, and audits the creation and the opening', async () => {
    const account = await gateway.createAccount()
    const { secret, deviceId } = await createLink(account)
    const { body } = await open(secret)
    const [stored] = await gateway.db.$client`
      SELECT pairing_links::text AS row FROM pairing_links WHERE device_id = ${deviceId}`
    for (const text of [secret, String(body.session)]) {
      expect(stored?.row).not.toContain(text)
      expect(stored?.row).not.toContain(Buffer.from(text).toString('hex'))
    }
    const audited = await gateway.db.$client`
      SELECT operation, result, key_id IS NOT NULL AS has_key FROM audit_log
      WHERE account_id = ${account.userId} AND target = ${`device:${deviceId}`} ORDER BY id`
    expect(audited.map((entry) => ({ ...entry }))).toEqual([
      { operation: 'create-link', result: 'created', has_key: true },
      { operation: 'create-link', result: 'created', has_key: true },
      { operation: 'open-link', result: 'opened', has_key: true },
    ])
  })
})

describe('open-link', () => {
  test('opens a link once, also for two people at the same time', async () => {
    const { secret, deviceId, sender } = await createLink(await gateway.createAccount())
    const answers = await Promise.all([1, 2, 3, 4].map(() => open(secret)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410])
    const opened = answers.find(({ status }) => status === 200)
    expect(opened?.body).toMatchObject({ device_id: deviceId, sender })
    expect(opened?.body.session).toMatch(/^wag_session_\w{49}$/)
    expect(opened?.body.expires_in).toBeLessThanOrEqual(600)
    expect(await open(secret)).toMatchObject({ status: 410, body: { code: 'link_used' } })
  })

  test('says that a link has expired, and ends its session with it', async () => {
    const account = await gateway.createAccount()
    const late = await createLink(account)
    const { session, deviceId } = await openSession(account)
    expect((await session.get('/pairing-status')).status).toBe(200)
    await gateway.db.$client`
      UPDATE pairing_links SET expires_at = now() - interval '1 second'
      WHERE device_id IN (${late.deviceId}, ${deviceId})`
    expect(await open(late.secret)).toMatchObject({ status: 410, body: { code: 'link_expired' } })
    await gateway.admin.post('/update-user', { user_id: account.userId, devices_allowed: 9 })
    expect(await session.get('/pairing-status')).toMatchObject({ body: { code: 'expired_api_key' } })
  })

  test('refuses links of a revoked key, an expired account and a deleted sender, and API keys', async () => {
    const account = await gateway.createAccount()
    const { body: key } = await account.post('/create-key', { name: 'web shop' })
    const shop = { ...account, ...makeClient(gateway.url, String(key.api_key)) }
    const [unopened, opened] = [await createLink(shop), await openSession(shop)]
    const deleted = await createLink(account)
    await account.post('/delete-device', { device_id: deleted.deviceId })
    await account.post('/revoke-key', { key_id: key.key_id })
    for (const answer of [
      await open(unopened.secret),
      await open(deleted.secret),
      await open(`${unopened.secret.slice(0, -1)}_`),
      await opened.session.get('/pairing-status'),
    ]) {
      expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } })
    }
    expect(await account.post('/open-link')).toMatchObject({ body: { code: 'credential_not_allowed' } })

    const kept = await createLink(account)
    await gateway.admin.post('/update-user', { user_id: account.userId, expiry: '2020-01-01T00:00:00Z' })
    expect(await open(kept.secret)).toMatchObject({ status: 403, body: { code: 'account_expired' } })
  })
})

describe('the session of a link', () => {
  const allowed = [
    ...['generate-qr', 'pair-code', 'pairing-status'],
    ...['passkey-challenge', 'passkey-assertion', 'passkey-confirm'],
  ]

  test.each(operations.filter(({ name, isPublic }) => !allowed.includes(name) && !isPublic))(
    'cannot use $name, nor can the link',
    async ({ name, methods, example }) => {
      const { session, secret } = await openSession(await gateway.createAccount({ role: 'ADMIN' }))
      const clients = name === 'open-link' ? [session] : [session, makeClient(gateway.url, secret)]
      for (const client of clients) {
        const answer = methods.includes('POST')
          ? await client.post(`/${name}`, example.given)
          : await client.get(`/${name}`)
        expect(answer).toMatchObject({ status: 403, body: { code: 'credential_not_allowed' } })
      }
    },
  )

  test.each(allowed)('refuses another sender, force and a name in %s', async (name) => {
    const account = await gateway.createAccount()
    const other = await createLink(account)
    const { session, secret } = await openSession(account)
    const byLink = await makeClient(gateway.url, secret).post(`/${name}`)
    expect(byLink).toMatchObject({ status: 403, body: { code: 'credential_not_allowed' } })
    for (const fields of [
      { sender: other.sender },
      { device_id: other.deviceId },
      { id: other.deviceId },
      { force: true },
      { name: 'x' },
    ]) {
      const answer = await session.post(`/${name}`, fields)
      expect(answer).toMatchObject({ status: 403, body: { code: 'credential_not_allowed' } })
    }
  })

  test('follows the pairing of its sender', async () => {
    const { session, deviceId, sender } = await openSession(await gateway.createAccount())
    const first = await session.get('/pairing-status')
    expect(first.body).toMatchObject({
      device_id: deviceId,
      sender,
      status: 'disconnected',
      qr_data_url: null,
    })
    const asked = session.post('/generate-qr')
    await showQr(gateway, deviceId, { text: 'first' })
    expect((await asked).body.qr_text).toBe('first')
    const { body } = await session.get('/pairing-status', { after: String(first.body.version) })
    expect(body).toMatchObject({ status: 'scanning', qr_data_url: expect.stringMatching(/^data:image\/png/) })

    const next = session.get('/pairing-status', { after: String(body.version) })
    await showQr(gateway, deviceId, { text: 'second' })
    const second = (await next).body
    expect(second.qr_data_url).not.toBe(body.qr_data_url)

    // That of a worker that has lost the sender cannot be scanned any more.
    await showQr(gateway, deviceId, { text: 'third', epochAhead: -1 })
    const stale = await session.get('/pairing-status', { after: String(second.version) })
    expect(stale.body).toMatchObject({ status: 'scanning', qr_data_url: null, expires_in: null })

    const linked = session.get('/pairing-status', { after: String(stale.body.version) })
    await linkDevice(gateway, deviceId)
    expect((await linked).body).toMatchObject({ status: 'connected', qr_data_url: null })
  })

  test('does not create a deleted sender again', async () => {
    const account = await gateway.createAccount()
    const { session, deviceId } = await openSession(account)
    await session.get('/pairing-status')
    await account.post('/delete-device', { device_id: deviceId })
    const { body } = await session.post('/generate-qr')
    expect(['device_not_found', 'invalid_api_key']).toContain(body.code)
    expect((await account.get('/devices')).body.devices).toEqual([])
  })
})
