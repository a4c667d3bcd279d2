import { randomUUID } from 'node:crypto'
import { type Client, makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithReplica, startGatewayWithReplica } from './gateway.ts'

let gateway: GatewayWithReplica
beforeAll(async () => {
  gateway = await startGatewayWithReplica()
})
afterAll(() => gateway.close())

const newUser = () => ({ email: `${randomUUID()}@example.com`, password: 'correct horse' })
const reused = { status: 422, body: { code: 'idempotency_key_reused' } }
const isReplay = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed') === 'true'

async function newAdmin() {
  const admin = await gateway.createAccount({ role: 'ADMIN' })
  return { ...admin, elsewhere: makeClient(gateway.replica.url, admin.apiKey) }
}

async function countAccounts(email: string): Promise<number> {
  const rows = await gateway.db.$client`SELECT 1 FROM accounts WHERE email = ${email}`
  return rows.length
}

/** Half of the keys in the header, half as the parameter, on both processes. */
function fifty(path: string, clients: Client[], fields: Record<string, unknown>, key: string) {
  return Promise.all(
    Array.from({ length: 50 }, (_, n) => {
      const client = clients[n % clients.length] as Client
      return n % 4 < 2
        ? client.post(path, { ...fields, idempotency_key: key })
        : client.get(path, fields as Record<string, string>, { 'idempotency-key': key })
    }),
  )
}

describe.each([
  { path: '/create-user', fields: newUser, id: 'user_id' },
  { path: '/create-key', fields: () => ({ name: randomUUID() }), id: 'key_id' },
])('$path under an idempotency key', ({ path, fields, id }) => {
  test('takes effect once for 50 concurrent equal requests on two processes', async () => {
    const admin = await newAdmin()
    const given = fields()
    const answers = await fifty(path, [admin, admin.elsewhere], given, randomUUID())
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ body }) => body[id])).size).toBe(1)
    expect(answers.filter(isReplay)).toHaveLength(49)
    expect(answers.filter(({ body }) => body.api_key !== undefined)).toHaveLength(1)
    const [entries] = await gateway.db.$client<{ count: number }[]>`
      SELECT count(*)::int FROM audit_log WHERE account_id = ${admin.userId}`
    expect(entries?.count).toBe(1)
  })

  test('is replayed with the same response, without the API key, and marked as replayed', async () => {
    const admin = await newAdmin()
    const given = { ...fields(), idempotency_key: 'k' }
    const first = await admin.post(path, given)
    expect(isReplay(first)).toBe(false)
    const { api_key, ...rest } = first.body
    expect((await makeClient(gateway.url, String(api_key)).get('/user-info')).status).toBe(200)
    const second = await admin.elsewhere.post(path, given)
    expect(isReplay(second)).toBe(true)
    expect(second.body).toEqual({ ...rest, warnings: [expect.stringContaining('API key')] })
    const [stored] = await gateway.db.$client<{ text: string }[]>`
      SELECT string_agg(idempotency_keys::text, '') AS text FROM idempotency_keys`
    expect(stored?.text).not.toContain(String(api_key).slice(4, 40))
  })

  test('applies to one account and operation, for 24 hours', async () => {
    const [one, other] = [await newAdmin(), await newAdmin()]
    const given = { ...fields(), idempotency_key: 'k' }
    const first = await one.post(path, given)
    const elsewhere = await other.post(path, { ...fields(), idempotency_key: 'k' })
    expect([first.status, elsewhere.status, isReplay(elsewhere)]).toEqual([200, 200, false])
    expect(elsewhere.body[id]).not.toBe(first.body[id])
    await gateway.db.$client`
      UPDATE idempotency_keys SET created_at = created_at - interval '25 hours' WHERE account_id = ${one.userId}`
    const later = await one.post(path, { ...fields(), idempotency_key: 'k' })
    expect([later.status, isReplay(later)]).toEqual([200, false])
  })
})

describe('a different request with the same key returns 422', () => {
  test.each([
    { email: 'other@example.com' },
    { password: 'another horse' },
    { role: 'ADMIN' },
    { devices_allowed: 7 },
    { expiry: '2099-01-01T00:00:00Z' },
  ])('create-user with %j', async (other) => {
    const admin = await newAdmin()
    const given = { ...newUser(), idempotency_key: 'k' }
    await admin.post('/create-user', given)
    expect(await admin.post('/create-user', { ...given, ...other })).toMatchObject(reused)
    // Another spelling of the same email.
    expect(await admin.post('/create-user', { ...given, role: 'user', devices_allowed: '1' })).toMatchObject({
      status: 200,
    })
  })

  test.each([{ name: 'other' }, { expiry: '2099-01-01T00:00:00Z' }])('create-key with %j', async (other) => {
    const account = await gateway.createAccount()
    const given = { name: 'one', idempotency_key: 'k' }
    await account.post('/create-key', given)
    expect(await account.post('/create-key', { ...given, ...other })).toMatchObject(reused)
  })

  test('and a key for another account is a different request', async () => {
    const admin = await newAdmin()
    const { userId } = await gateway.createAccount()
    await admin.post('/create-key', { idempotency_key: 'k' })
    expect(await admin.post('/create-key', { idempotency_key: 'k', user_id: userId })).toMatchObject(reused)
  })
})

test('the stored hash does not allow guessing the password', async () => {
  const admin = await newAdmin()
  const user = newUser()
  await admin.post('/create-user', { ...user, idempotency_key: 'one' })
  await admin.post('/create-user', { ...newUser(), password: 'something else', idempotency_key: 'two' })
  const hashOf = async (key: string) => {
    const [row] = await gateway.db.$client<{ hash: string; response: unknown }[]>`
      SELECT encode(payload_hash, 'hex') AS hash, response FROM idempotency_keys
      WHERE account_id = ${admin.userId} AND key = ${key}`
    return row
  }
  // Only the password differs: a different hash would allow testing guesses at full speed.
  await gateway.db.$client`DELETE FROM accounts WHERE email = ${user.email}`
  await admin.post('/create-user', { ...user, password: 'a third one', idempotency_key: 'three' })
  expect((await hashOf('three'))?.hash).toBe((await hashOf('one'))?.hash)
  expect(JSON.stringify((await hashOf('one'))?.response)).not.toContain('horse')
})

test('a refused request leaves no key behind', async () => {
  const admin = await newAdmin()
  const taken = await gateway.createAccount()
  const { body } = await taken.get('/user-info')
  const given = { ...newUser(), idempotency_key: 'k' }
  expect((await admin.post('/create-user', { ...given, email: body.email })).status).toBe(409)
  expect((await admin.post('/create-user', { ...given, password: 'x' })).status).toBe(400)
  const answer = await admin.post('/create-user', given)
  expect([answer.status, isReplay(answer)]).toEqual([200, false])
  expect(await countAccounts(given.email)).toBe(1)
})

test('header and parameter may be equal but not different', async () => {
  const account = await gateway.createAccount()
  const given = { name: 'x', idempotency_key: 'k' }
  expect((await account.post('/create-key', given, { 'idempotency-key': 'k' })).status).toBe(200)
  expect(await account.post('/create-key', given, { 'idempotency-key': 'l' })).toMatchObject({
    status: 400,
    body: { code: 'duplicate_parameter' },
  })
  expect(await account.post('/create-key', {}, { 'idempotency-key': 'x'.repeat(256) })).toMatchObject({
    status: 400,
    body: { code: 'invalid_parameter' },
  })
})
