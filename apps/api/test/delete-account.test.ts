import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSender, type Gateway, recordCommands, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ ACCOUNT_DELETION_DAYS: '3' })
})
afterAll(() => gateway.close())

const own = { password: 'correct horse' }
const dayMs = 86_400_000
const readProof = (proof: unknown) => gateway.anonymous.post('/deletion-proof', { proof })

/** As a worker begins it. */
const begin = (accountId: number) => gateway.db.$client`
  UPDATE account_deletions SET due_at = now(), deleted = '{"devices": 0}' WHERE account_id = ${accountId}`

describe('delete-account', () => {
  test('disables the account at once, and is due after ACCOUNT_DELETION_DAYS', async () => {
    const { account, deviceId } = await createSender(gateway)
    const commands = await recordCommands(gateway, deviceId)
    const { body } = await account.post('/delete-account', own)
    expect(body).toMatchObject({ ok: true, account_id: account.userId })
    expect(Date.parse(String(body.due_at)) - Date.now()).toBeGreaterThan(3 * dayMs - 60_000)
    expect(Date.parse(String(body.due_at)) - Date.now()).toBeLessThan(3 * dayMs + 60_000)
    expect(await account.get('/user-info')).toMatchObject({ status: 403, body: { code: 'account_disabled' } })
    await vi.waitFor(() => expect(commands.seen).toEqual(['apply-settings']), eventually)
    await commands.close()
    const [entry] = await gateway.db.$client`
      SELECT account_id, operation, result FROM audit_log WHERE target = ${`account:${account.userId}`}
        AND operation = 'delete-account'`
    expect(entry).toEqual({ account_id: account.userId, operation: 'delete-account', result: 'requested' })
    const stored = await gateway.db
      .$client`SELECT to_jsonb(account_deletions)::text AS row FROM account_deletions`
    expect(JSON.stringify(stored)).not.toContain(String(body.proof))
  })

  test('needs the password of the account, or an ADMIN', async () => {
    const [account, other] = [await gateway.createAccount(), await gateway.createAccount()]
    const answers = await Promise.all([
      account.post('/delete-account', {}),
      account.post('/delete-account', { user_id: account.userId }),
      account.post('/delete-account', { password: 'wrong horse' }),
      account.post('/delete-account', { ...own, user_id: other.userId }),
      gateway.admin.post('/delete-account', { user_id: 2 ** 31 - 1 }),
    ])
    expect(answers.map(({ status, body }) => `${status} ${body.code}`)).toEqual([
      '400 missing_parameter',
      '400 missing_parameter',
      '403 wrong_password',
      '403 admin_required',
      '404 user_not_found',
    ])
    for (const client of [account, other]) expect((await client.get('/user-info')).status).toBe(200)
    expect(await gateway.admin.post('/delete-account', { user_id: other.userId })).toMatchObject({
      status: 200,
    })
    expect((await other.get('/user-info')).status).toBe(403)
  })

  test('leaves one active ADMIN', async () => {
    const { body } = await gateway.admin.get('/user-info')
    const second = await gateway.createAccount({ role: 'ADMIN' })
    await gateway.admin.post('/delete-account', { user_id: second.userId })
    const third = await gateway.createAccount({ role: 'ADMIN' })
    expect(await third.post('/update-user', { user_id: body.id, role: 'USER' })).toMatchObject({
      status: 200,
    })
    expect(await third.post('/delete-account', own)).toMatchObject({
      status: 409,
      body: { code: 'last_admin' },
    })
    expect(await third.post('/update-user', { user_id: body.id, role: 'ADMIN' })).toMatchObject({
      status: 200,
    })
    expect(await third.post('/delete-account', own)).toMatchObject({ status: 200 })
  })

  test('is canceled by enabling the account, until it has begun', async () => {
    const account = await gateway.createAccount()
    const enable = () => gateway.admin.post('/update-user', { user_id: account.userId, disabled: false })
    const again = () => gateway.admin.post('/delete-account', { user_id: account.userId })
    const refused = { status: 409, body: { code: 'account_deleting' } }
    const { proof } = (await account.post('/delete-account', own)).body
    expect(await again()).toMatchObject(refused)
    expect((await enable()).body).toMatchObject({ disabled_at: null })
    await vi.waitFor(async () => expect((await account.get('/user-info')).status).toBe(200), eventually)
    expect(await readProof(proof)).toMatchObject({ status: 404, body: { code: 'proof_not_found' } })
    expect((await again()).status).toBe(200)
    await begin(account.userId)
    expect(await enable()).toMatchObject(refused)
    expect((await account.get('/user-info')).status).toBe(403)
  })
})

describe('delete-user', () => {
  const remove = (user_id: number, client: Pick<typeof gateway.admin, 'post'> = gateway.admin) =>
    client.post('/delete-user', { user_id })

  test('does what delete-account does, and says how far it is when it is repeated', async () => {
    const { account, deviceId } = await createSender(gateway)
    const commands = await recordCommands(gateway, deviceId)
    const { status, body } = await remove(account.userId)
    const since = { requested_at: body.requested_at, due_at: body.due_at }
    const waiting = { ok: true, user_id: account.userId, state: 'waiting', ...since, finished_at: null }
    expect(status).toBe(200)
    expect(body).toEqual({ ...waiting, requested: true, proof: expect.stringMatching(/^wag_proof_/) })
    expect(Date.parse(String(body.due_at)) - Date.now()).toBeGreaterThan(3 * dayMs - 60_000)
    expect(await account.get('/user-info')).toMatchObject({ status: 403, body: { code: 'account_disabled' } })
    await vi.waitFor(() => expect(commands.seen).toEqual(['apply-settings']), eventually)
    await commands.close()
    expect((await readProof(body.proof)).body).toMatchObject({ state: 'waiting', ...since })

    const warnings = ['The deletion of this account had been requested before.']
    expect((await remove(account.userId)).body).toEqual({ ...waiting, requested: false, warnings })
    await begin(account.userId)
    expect((await remove(account.userId)).body).toMatchObject({ requested: false, state: 'deleting' })
    // As housekeeping leaves it.
    await gateway.db
      .$client`UPDATE account_deletions SET finished_at = now() WHERE account_id = ${account.userId}`
    await gateway.db.$client`DELETE FROM api_keys WHERE account_id = ${account.userId}`
    await gateway.db.$client`DELETE FROM devices WHERE account_id = ${account.userId}`
    await gateway.db.$client`DELETE FROM accounts WHERE id = ${account.userId}`
    const gone = await remove(account.userId)
    expect(gone).toMatchObject({ status: 200, body: { requested: false, state: 'deleted', warnings } })
    expect(gone.body.proof).toBeUndefined()
    const entries = await gateway.db.$client`
      SELECT operation, result FROM audit_log WHERE target = ${`account:${account.userId}`} AND operation LIKE 'delete-%'`
    expect(entries).toEqual([{ operation: 'delete-user', result: 'requested' }])
  })

  test('begins once for ten requests at the same time', async () => {
    const account = await gateway.createAccount()
    const answers = await Promise.all(Array.from({ length: 10 }, () => remove(account.userId)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(answers.filter(({ body }) => body.requested)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.proof)).toHaveLength(1)
  })

  test('needs an ADMIN, another account, and one that exists', async () => {
    const [account, other] = [await gateway.createAccount(), await gateway.createAccount()]
    const self = Number((await gateway.admin.get('/user-info')).body.id)
    const answers = await Promise.all([
      remove(other.userId, account),
      remove(account.userId, account),
      remove(2 ** 31 - 1, account),
      remove(2 ** 31 - 1),
      remove(self),
    ])
    expect(answers.map(({ status, body }) => `${status} ${body.code}`)).toEqual([
      '403 admin_required',
      '403 admin_required',
      '403 admin_required',
      '404 user_not_found',
      '400 invalid_parameter',
    ])
    expect(answers.at(-1)?.body.error).toBe(
      'user_id is your own account. delete-account deletes it, and asks for its password',
    )
    for (const client of [account, other, gateway.admin])
      expect((await client.get('/user-info')).status).toBe(200)
  })

  test('can be canceled, and requested again with another proof', async () => {
    const account = await gateway.createAccount()
    const first = (await remove(account.userId)).body
    await gateway.admin.post('/update-user', { user_id: account.userId, disabled: false })
    const second = (await remove(account.userId)).body
    expect(second).toMatchObject({ requested: true, state: 'waiting' })
    expect(second.proof).not.toBe(first.proof)
    expect((await readProof(first.proof)).status).toBe(404)
  })
})

test('deletion-proof tells how far a deletion is, to anybody who has the proof', async () => {
  const account = await gateway.createAccount()
  const { proof, due_at } = (await account.post('/delete-account', own)).body
  const { body } = await readProof(proof)
  expect(body).toEqual({
    ok: true,
    account_id: account.userId,
    state: 'waiting',
    requested_at: expect.stringMatching(/Z$/),
    due_at,
    finished_at: null,
    deleted: {},
  })
  await begin(account.userId)
  expect((await readProof(proof)).body).toMatchObject({ state: 'deleting', deleted: { devices: 0 } })
  await gateway.db.$client`
    UPDATE account_deletions SET finished_at = now(), deleted = '{"messages": 120}' WHERE account_id = ${account.userId}`
  expect((await readProof(proof)).body).toMatchObject({
    state: 'deleted',
    finished_at: expect.stringMatching(/Z$/),
    deleted: { messages: 120 },
  })
  expect(await readProof(String(proof).slice(0, -1))).toMatchObject({ status: 404 })
})
