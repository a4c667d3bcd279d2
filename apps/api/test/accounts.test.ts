import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { verify } from '@node-rs/argon2'
import { makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bootstrapAdmin } from '../src/credentials/bootstrap-admin.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { titled } from './titled.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

describe('create-user', () => {
  test('returns the id and a key that works', async () => {
    const { status, body } = await gateway.admin.post('/create-user', {
      email: '  New.User@Example.com ',
      password: 'correct horse',
    })
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ok: true,
        user_id: expect.any(Number),
        api_key: expect.stringMatching(/^wag_[0-9A-Za-z]{49}$/),
        email: 'new.user@example.com',
        role: 'USER',
        devices_allowed: 1,
        expiry: null,
      },
    })
    const info = await makeClient(gateway.url, String(body.api_key)).get('/user-info')
    expect(info.body).toEqual({
      ok: true,
      id: body.user_id,
      email: 'new.user@example.com',
      level: 'USER',
      devices_used: 0,
      devices_allowed: 1,
      expiry: null,
    })
  })

  test('needs no password: the API key is enough, also for a replay', async () => {
    const given = { email: 'programs@example.com', idempotency_key: 'without a password' }
    const first = await gateway.admin.post('/create-user', given)
    expect(first.body).toMatchObject({ ok: true, api_key: expect.stringMatching(/^wag_/) })
    const replay = await gateway.admin.post('/create-user', given)
    expect(replay.body).toMatchObject({ user_id: first.body.user_id, warnings: [expect.any(String)] })
    const other = await gateway.admin.post('/create-user', { ...given, password: 'correct horse' })
    expect(other).toMatchObject({ status: 422 })
  })

  test('accepts role, devices_allowed and expiry, also by GET', async () => {
    const { body } = await gateway.admin.get('/create-user', {
      email: 'second-admin@example.com',
      password: 'correct horse',
      role: 'admin',
      devices_allowed: '7',
      expiry: '2030-01-31T12:00:00+01:00',
    })
    expect(body).toMatchObject({
      ok: true,
      role: 'ADMIN',
      devices_allowed: 7,
      expiry: '2030-01-31T11:00:00.000Z',
    })
    const other = makeClient(gateway.url, String(body.api_key))
    const created = await other.post('/create-user', {
      email: 'third@example.com',
      password: 'correct horse',
    })
    expect(created.status).toBe(200)
  })

  test('requires an ADMIN', async () => {
    const account = await gateway.createAccount()
    const answer = await account.post('/create-user', { email: 'no@example.com', password: 'correct horse' })
    expect(answer).toMatchObject({ status: 403, body: { code: 'admin_required' } })
  })

  test('refuses an existing email in any case, also in concurrent requests', async () => {
    const answers = await Promise.all(
      ['twice@example.com', 'TWICE@example.com', 'Twice@Example.com'].map((email) =>
        gateway.admin.post('/create-user', { email, password: 'correct horse' }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('email_exists')
  })

  test.each(
    [
      { email: 'no-email' },
      { email: 1 },
      { email: `${'x'.repeat(250)}@example.com` },
      { password: 'short' },
      { password: 'x'.repeat(129) },
      { role: 'OWNER' },
      { role: ' ' },
      { devices_allowed: -1 },
      { devices_allowed: ' ' },
      { devices_allowed: true },
      { expiry: 'soon' },
    ].map(titled),
  )('refuses %s', async (_, wrong) => {
    const right = { email: 'fine@example.com', password: 'correct horse' }
    expect(await gateway.admin.post('/create-user', { ...right, ...wrong })).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: [{ parameter: Object.keys(wrong)[0] }] },
    })
  })

  test('stores the password as Argon2id', async () => {
    const { userId } = await gateway.createAccount({ password: 'Mot de passe é' })
    const [row] = await gateway.db.$client<{ hash: string }[]>`
      SELECT password_hash AS hash FROM accounts WHERE id = ${userId}`
    expect(row?.hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await verify(String(row?.hash), 'Mot de passe é'.normalize('NFC'))).toBe(true)
  })
})

test('user-info counts devices', async () => {
  const account = await gateway.createAccount({ devices_allowed: 3 })
  await account.post('/create-device', { sender: '4915112340001' })
  await account.post('/create-device', { sender: '4915112340002' })
  expect((await account.get('/user-info')).body).toMatchObject({ devices_used: 2, devices_allowed: 3 })
})

describe('the first ADMIN', () => {
  test('is created once by concurrent processes', async () => {
    expect(await bootstrapAdmin(gateway.databaseUrl, 'late@example.com')).toBeUndefined()
    await gateway.db.$client`DELETE FROM accounts`
    const made = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => bootstrapAdmin(gateway.databaseUrl, `${name}@example.com`)),
    )
    const [admin] = made.filter(Boolean)
    expect(made.filter(Boolean)).toHaveLength(1)
    expect((await makeClient(gateway.url, admin?.apiKey).get('/user-info')).body).toMatchObject({
      level: 'ADMIN',
      devices_allowed: 1000,
    })
  })

  test('can be created on the command line, as can further ones', async () => {
    const program = fileURLToPath(new URL('../../../scripts/wagate.mjs', import.meta.url))
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, [program, ...args], {
        env: { ...process.env, DATABASE_URL: gateway.databaseUrl },
      })
    const { stdout } = await run('admin', 'create', '--email', 'Operator@example.com')
    expect((await makeClient(gateway.url, stdout.trim()).get('/user-info')).body).toMatchObject({
      email: 'operator@example.com',
      level: 'ADMIN',
    })
    await expect(run('admin', 'create', '--email', 'operator@example.com')).rejects.toMatchObject({ code: 1 })
    await expect(run('admin', 'create', '--email', 'nobody')).rejects.toMatchObject({ code: 2 })
  })
})
