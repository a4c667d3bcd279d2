import { beginAccountDeletion } from '@wagate/db/queries/retention/account-removal'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'

const sender = '15552075001'
const otherSender = '15552075002'
const number = '15552075003'
const leaving = '15552075004'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = await system.createAccount()
  await Promise.all([gateway.link(sender), system.gateway.link(otherSender)])
}, 60_000)
afterAll(() => system?.close(), 30_000)

const setDisabled = (userId: unknown, disabled: boolean) =>
  system.admin.call('update-user', { user_id: userId, disabled })

async function isConnected(phone: string): Promise<boolean> {
  const phones = await gateway.control<{ number: string; companions: { connected: boolean }[] }[]>('/phones')
  return phones.find((one) => one.number === phone)?.companions.some(({ connected }) => connected) ?? false
}

test('the senders of a disabled account send nothing, and go on once it is enabled', async () => {
  const { id: userId } = (await gateway.get('user-info')).body
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const { body: sent } = await gateway.call('send-message', { sender, number, message: 'Hi', send_at: later })

  await setDisabled(userId, true)
  await until('the sender is disconnected', async () => !(await isConnected(sender)))
  const stored = async () =>
    (
      await system.database.$client`
        SELECT connection, status_reason AS reason FROM devices WHERE sender = ${sender}`
    )[0]
  await until('its owner has stored why', async () => (await stored())?.reason === 'account_disabled')
  expect(await stored()).toMatchObject({ connection: 'offline' })

  await system.database.$client`
    UPDATE messages SET send_at = now(), status = 'queued' WHERE id = ${String(sent.message_id)}`
  // The worker polls for due messages meanwhile, and serves others.
  for (const text of ['1', '2', '3']) await system.gateway.deliver(otherSender, number, text)
  expect(await isConnected(sender)).toBe(false)
  expect(await gateway.phone(number, sender)).toEqual([])
  expect(await gateway.get('messages')).toMatchObject({ status: 403, body: { code: 'account_disabled' } })

  await setDisabled(userId, false)
  await until('the sender is connected again', () => isConnected(sender))
  await gateway.untilStatus(String(sent.message_id), 'delivered')
  expect(await gateway.companionsOf(sender)).toHaveLength(1)
}, 90_000)

test('the senders of an account that is deleted are logged out, although they do not connect', async () => {
  const account = await system.createAccount()
  await account.link(leaving)
  const { id: userId } = (await account.get('user-info')).body
  await system.admin.call('delete-account', { user_id: userId })
  await until('the sender is disconnected', async () => !(await isConnected(leaving)))
  expect(await account.companionsOf(leaving)).toHaveLength(1)
  // Housekeeping does this within a minute.
  await system.database
    .$client`UPDATE account_deletions SET due_at = now() WHERE account_id = ${Number(userId)}`
  await beginAccountDeletion(system.database, Number(userId))
  await until('the phone shows no link', async () => (await account.companionsOf(leaving)).length === 0)
  await until('nothing is left to do for the sender', async () => {
    const [device] = await system.database.$client`
      SELECT removed_at IS NOT NULL AS "isRemoved" FROM devices WHERE sender = ${leaving}`
    return device?.isRemoved === true
  })
}, 90_000)
