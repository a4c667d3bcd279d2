import { makeClient } from '@wagate/test-kit/http-client'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Gateway, startGateway } from './gateway.ts'
import { listKeys } from './list-keys.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const invalid = { status: 401, body: { code: 'invalid_api_key' } }

describe('an ADMIN', () => {
  test('lists, creates and revokes the keys of another account, including the last one', async () => {
    const account = await gateway.createAccount()
    const whose = { user_id: account.userId }
    const [own] = await listKeys(gateway.admin, { user_id: String(account.userId) })
    expect(await gateway.admin.post('/revoke-key', { ...whose, key_id: own?.key_id })).toMatchObject({
      status: 200,
    })
    expect(await account.get('/user-info')).toMatchObject(invalid)
    const { body } = await gateway.admin.post('/create-key', { ...whose, name: 'rescue' })
    const rescued = makeClient(gateway.url, String(body.api_key))
    expect((await rescued.get('/user-info')).body).toMatchObject({ id: account.userId })
  })

  test('learns that an account does not exist, a USER does not', async () => {
    const [one, other] = [await gateway.createAccount(), await gateway.createAccount()]
    for (const path of ['/create-key', '/revoke-key', '/keys']) {
      const given = { user_id: 2 ** 31 - 1, key_id: 1 }
      const query = { user_id: String(other.userId) }
      const byAdmin =
        path === '/keys' ? gateway.admin.get(path, { user_id: '1' }) : gateway.admin.post(path, given)
      expect(await byAdmin).toMatchObject({ status: 404, body: { code: 'user_not_found' } })
      const byUser = path === '/keys' ? one.get(path, query) : one.post(path, { ...given, ...query })
      expect(await byUser).toMatchObject({ status: 403, body: { code: 'admin_required' } })
    }
    expect((await one.get('/keys', { user_id: String(one.userId) })).status).toBe(200)
  })
})

test('an expired ADMIN cannot list the keys of other accounts', async () => {
  const [admin, other] = [await gateway.createAccount({ role: 'ADMIN' }), await gateway.createAccount()]
  expect(await listKeys(admin, { user_id: String(other.userId) })).toHaveLength(1)
  await gateway.admin.post('/update-user', { user_id: admin.userId, expiry: '2020-01-01T00:00:00Z' })
  expect(await listKeys(admin)).toHaveLength(1)
  const refused = { status: 403, body: { code: 'account_expired' } }
  await vi.waitFor(
    async () => expect(await admin.get('/keys', { user_id: String(other.userId) })).toMatchObject(refused),
    eventually,
  )
})

test('an expired account can list but not create keys', async () => {
  const account = await gateway.createAccount({ expiry: '2020-01-01T00:00:00Z' })
  expect(await listKeys(account)).toHaveLength(1)
  for (const path of ['/create-key', '/revoke-key']) {
    expect(await account.post(path)).toMatchObject({ status: 403, body: { code: 'account_expired' } })
  }
})
