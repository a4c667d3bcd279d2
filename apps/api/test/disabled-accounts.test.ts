import { randomUUID } from 'node:crypto'
import { getMediaLinkKey } from '@wagate/db/queries/statements/installation'
import { makeMediaLinker } from '@wagate/shared/media-links'
import { type Client, makeClient } from '@wagate/test-kit/http-client'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { atOnce } from './at-once.ts'
import {
  createSender,
  type Gateway,
  type GatewayWithReplica,
  ownShards,
  recordCommands,
  startGateway,
  startGatewayWithReplica,
} from './gateway.ts'
import { openStream } from './stream-client.ts'

let gateway: GatewayWithReplica
beforeAll(async () => {
  gateway = await startGatewayWithReplica()
  await ownShards(gateway)
})
afterAll(() => gateway.close())

const refused = { status: 403, body: { code: 'account_disabled' } }

const setDisabled = (account: { userId: number }, disabled: boolean) =>
  gateway.admin.post('/update-user', { user_id: account.userId, disabled })

describe('an account that is disabled', () => {
  test('is refused in every process, and admitted again once it is enabled', async () => {
    const account = await gateway.createAccount()
    const clients = [account, makeClient(gateway.replica.url, account.apiKey)]
    const felt = async (status: number) => {
      for (const client of clients) {
        await vi.waitFor(async () => expect((await client.get('/user-info')).status).toBe(status), {
          timeout: 2500,
          interval: 20,
        })
      }
    }
    await felt(200)
    const { body } = await setDisabled(account, true)
    expect(body).toMatchObject({ user_id: account.userId, disabled_at: expect.stringMatching(/Z$/) })
    await felt(403)
    for (const path of ['/user-info', '/messages', '/keys'])
      expect(await account.get(path)).toMatchObject(refused)
    // Since when it is disabled stays.
    expect((await setDisabled(account, true)).body.disabled_at).toBe(body.disabled_at)
    expect((await setDisabled(account, false)).body.disabled_at).toBeNull()
    await felt(200)
  })

  test('has no one-time link, session of a link or token that works, and its streams end', async () => {
    const { account, deviceId } = await createSender(gateway)
    const secretOf = (url: unknown) => new URL(String(url)).hash.slice(1)
    const [opened, unopened] = await Promise.all(
      [1, 2].map(async () =>
        secretOf((await account.post('/create-link', { device_id: deviceId })).body.url),
      ),
    )
    const session = (await makeClient(gateway.url, opened).post('/open-link')).body.session
    const { token } = (await account.post('/create-stream-token')).body
    const stream = await openStream(`${gateway.replica.url}/events/stream?token=${token}`)
    expect(stream.status).toBe(200)
    await setDisabled(account, true)
    await stream.ended
    expect(await makeClient(gateway.url, unopened).post('/open-link')).toMatchObject(refused)
    expect(await makeClient(gateway.url, String(session)).post('/pairing-status')).toMatchObject(refused)
    expect((await openStream(`${gateway.url}/events/stream?token=${token}`)).status).toBe(403)
  })

  test('has no link to a received file that works', async () => {
    const account = await gateway.createAccount()
    const linkTo = makeMediaLinker(await getMediaLinkKey(gateway.db), gateway.url)
    const url = linkTo({ accountId: account.userId, messageId: randomUUID() })
    const read = async () => (await fetch(url)).json()
    expect(await read()).toMatchObject({ code: 'media_not_found' })
    await setDisabled(account, true)
    expect(await read()).toMatchObject({ code: 'media_link_invalid' })
  })

  test('has its senders reconciled by their owners at once, when it is disabled and when it is enabled', async () => {
    const { account, deviceId } = await createSender(gateway)
    const commands = await recordCommands(gateway, deviceId)
    try {
      await setDisabled(account, true)
      await vi.waitFor(() => expect(commands.seen).toEqual(['apply-settings']), eventually)
      await setDisabled(account, false)
      await vi.waitFor(() => expect(commands.seen).toHaveLength(2), eventually)
    } finally {
      await commands.close()
    }
  })
})

test('users finds accounts by a part of the address and by their status', async () => {
  const mark = randomUUID().slice(0, 8)
  const create = async (name: string, fields = {}) =>
    gateway.createAccount({ email: `${mark}_${name}@example.com`, ...fields })
  const past = { expiry: '2020-01-01T00:00:00Z' }
  const active = await create('a')
  const expired = await create('b', past)
  const disabled = await create('c', past)
  await setDisabled(disabled, true)
  const find = async (filter: Record<string, string>) => {
    const { body } = await gateway.admin.get('/users', filter)
    return (body.users as { user_id: number }[]).map(({ user_id }) => user_id).reverse()
  }
  expect(await find({ email: mark.toUpperCase() })).toEqual([active, expired, disabled].map(idOf))
  expect(await find({ email: `${mark}_b` })).toEqual([expired.userId])
  expect(await find({ email: `${mark}%` })).toEqual([])
  expect(await find({ email: mark.replace(/.$/, '_') })).toEqual([])
  expect(await find({ email: mark, status: 'active' })).toEqual([active.userId])
  expect(await find({ email: mark, status: 'expired' })).toEqual([expired.userId])
  expect(await find({ email: mark, status: 'disabled' })).toEqual([disabled.userId])
})

const idOf = ({ userId }: Client & { userId: number }) => userId

test('one active ADMIN always remains, even when all disable each other concurrently', async () => {
  const alone: Gateway = await startGateway()
  try {
    const { body } = await alone.admin.get('/user-info')
    const lastAdmin = { status: 409, body: { code: 'last_admin' } }
    const disable = (client: Client, user_id: unknown) =>
      client.post('/update-user', { user_id, disabled: true })
    expect(await disable(alone.admin, body.id)).toMatchObject(lastAdmin)
    const second = await alone.createAccount({ role: 'ADMIN' })
    const third = await alone.createAccount({ role: 'ADMIN' })
    await second.get('/user-info')
    // One that is disabled does not count as active.
    expect(await disable(alone.admin, third.userId)).toMatchObject({ status: 200 })
    const hold = `SELECT FROM accounts WHERE role = 'ADMIN'`
    const answers = await atOnce(alone, { hold, waiting: 2 }, () =>
      Promise.all([disable(alone.admin, second.userId), disable(second, body.id)]),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  } finally {
    await alone.close()
  }
})
