import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import type { Phones } from '@wagate/test-kit/load/phones'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, it } from 'vitest'

const contact = '15550745099'

let system: TestSystem
let gateway: GatewayClient
let phones: Phones

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  phones = system.phones
}, 60_000)

afterAll(() => system?.close(), 30_000)

async function countLogins(sender: string): Promise<number> {
  return (await phones.logins()).filter((login) => login.sender === sender).length
}

async function countKeys(sender: string): Promise<number> {
  const rows = await system.database.$client`
    SELECT FROM device_auth JOIN devices ON devices.id = device_id WHERE sender = ${sender}`
  return rows.length
}

it.concurrent('a sender logs in again after stream error 429', async () => {
  const sender = '15550745429'
  await gateway.link(sender)
  const before = await countLogins(sender)
  await phones.fault({ kind: 'stream_error', code: '429', sender })
  await until('it is logged in', async () => (await countLogins(sender)) > before)
  const { body } = await gateway.call('send-message', { sender, number: contact, message: 'x' })
  await gateway.untilStatus(String(body.message_id), 'delivered')
})

describe.concurrent('a device that the phone has removed', () => {
  it.each(['516', 'device_removed'])('is logged out, and linked again with a QR code (%s)', async (code) => {
    const sender = code === '516' ? '15550745516' : '15550745401'
    await gateway.link(sender)
    await phones.fault({ kind: 'stream_error', code, sender })
    await until('it is logged out', async () => {
      const { status, status_reason } = await gateway.statusOf(sender)
      return status === 'disconnected' && status_reason === 'logged_out'
    })
    await until('its credentials are wiped', async () => (await countKeys(sender)) === 0)
    await gateway.link(sender)
  })
})

it.concurrent('a stream that ends for a missing acknowledgement is opened again, and the message is acknowledged', async ({
  expect,
}) => {
  const sender = '15550745006'
  await gateway.link(sender)
  await phones.write(contact, sender, 'to be acknowledged')
  const received = async () => (await gateway.history(`?sender=${sender}&status=received`)).length
  await until('it is stored', async () => (await received()) === 1)
  const before = await countLogins(sender)
  await phones.fault({ kind: 'stream_error', code: 'ack', sender })
  await until('it is logged in', async () => (await countLogins(sender)) > before)
  await until('nothing is left to acknowledge', async () => {
    const all = await gateway.control<{ number: string; companions: { pending: number }[] }[]>('/phones')
    return all.find(({ number }) => number === sender)?.companions[0]?.pending === 0
  })
  expect(await received()).toBe(1)
})
