import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { whileLocked } from '@wagate/test-kit/servers/while-locked'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, it } from 'vitest'

const contact = '15550700099'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
}, 60_000)

afterAll(() => system?.close(), 30_000)

async function scan(client: GatewayClient, sender: string, number: string): Promise<void> {
  const { body } = await client.call('generate-qr', { sender })
  await system.phones.scan(String(body.qr_text), number)
}

const untilStatus = (client: GatewayClient, sender: string, status: string) =>
  until(`${sender} is ${status}`, async () => {
    const device = await client.statusOf(sender)
    return device.status === status && device
  })

async function clearFaultsOf(sender: string): Promise<void> {
  const faults = await gateway.control<{ id: string; sender?: string }[]>('/faults')
  for (const { id } of faults.filter((fault) => fault.sender === sender)) await system.phones.clearFault(id)
}

describe.concurrent('a scanned device', () => {
  it.for([
    ['Brazil', '5511987650001', '551187650001'],
    ['Mexico', '5215512340001', '525512340001'],
    ['Argentina', '541112340001', '5491112340001'],
  ] as const)(
    'is linked when WhatsApp knows its number in the other form (%s)',
    async ([_, sender, number], { expect }) => {
      await scan(gateway, sender, number)
      expect(await untilStatus(gateway, sender, 'connected')).toMatchObject({ sender })
    },
  )

  it('may be linked by two accounts, each with its own companion', async ({ expect }) => {
    const sender = '15550700001'
    const second = await system.createAccount()
    const accounts = [gateway, second]
    await Promise.all(accounts.map((account) => scan(account, sender, sender)))
    await Promise.all(
      accounts.map(async (account) => {
        await untilStatus(account, sender, 'connected')
        const sent = await account.call('send-message', { sender, number: contact, message: 'x', wait: 20 })
        expect(['sent', 'delivered']).toContain(sent.body.status)
      }),
    )
    expect(await gateway.companionsOf(sender)).toHaveLength(2)

    await second.call('logout-device', { sender })
    await until('one companion is left', async () => (await gateway.companionsOf(sender)).length === 1)
    expect(await gateway.statusOf(sender)).toMatchObject({ status: 'connected' })
  })

  it('leaves no credentials behind when it is logged out', async ({ expect }) => {
    const sender = '15550700002'
    await gateway.link(sender)
    const { device_id } = await gateway.statusOf(sender)
    const stored = () =>
      system.database.$client`SELECT 1 FROM device_auth WHERE device_id = ${Number(device_id)}`
    expect((await stored()).length).toBeGreaterThan(0)
    await gateway.call('logout-device', { device_id })
    await until('the credentials are wiped', async () => (await stored()).length === 0)
  })
})

async function isOnline(sender: string): Promise<boolean> {
  const rows = await system.database
    .$client`SELECT FROM devices WHERE sender = ${sender} AND connection = 'online'`
  return rows.length > 0
}

describe.concurrent('a connected device', () => {
  it('is disconnected at once when WhatsApp blocks it (403), and says so', async ({ expect }) => {
    const sender = '15550700003'
    await gateway.link(sender)
    await system.phones.fault({ kind: 'stream_error', code: '403', sender })
    expect(await untilStatus(gateway, sender, 'disconnected')).toMatchObject({
      status_reason: 'blocked_by_whatsapp',
    })
  })

  it('shows a new QR code at once with force, while WhatsApp still blocks its former link', async ({
    expect,
  }) => {
    const sender = '15550700011'
    await gateway.link(sender)
    await system.phones.fault({ kind: 'stream_error', code: '403', sender, ms: 600_000 })
    await untilStatus(gateway, sender, 'disconnected')
    const { status, body } = await gateway.call('generate-qr', { sender, force: true })
    expect(status).toBe(200)
    await clearFaultsOf(sender)
    await system.phones.scan(String(body.qr_text), sender)
    await untilStatus(gateway, sender, 'connected')
  })

  it('logs in at once when it is logged out, without waiting for the end of a pause', async () => {
    const sender = '15550700012'
    await gateway.link(sender)
    await system.phones.fault({ kind: 'stream_error', code: '403', sender })
    await untilStatus(gateway, sender, 'disconnected')
    await gateway.call('logout-device', { sender })
    await until('the phone has no companion', async () => (await gateway.companionsOf(sender)).length === 0)
  })

  it('comes back at once when its connection was replaced, and is reported as disconnected the next time', async ({
    expect,
  }) => {
    const sender = '15550700013'
    await gateway.link(sender)
    const logins = async () =>
      (await system.phones.logins()).filter((login) => login.sender === sender).length
    const before = await logins()
    await system.phones.fault({ kind: 'stream_error', code: 'conflict', sender })
    await until('it has logged in again', async () => (await logins()) === before + 1)
    await until('it is connected', () => isOnline(sender))
    expect(await gateway.statusOf(sender)).toMatchObject({ status: 'connected' })

    await system.phones.fault({ kind: 'stream_error', code: 'conflict', sender })
    expect(await untilStatus(gateway, sender, 'disconnected')).toMatchObject({
      status_reason: 'connection_replaced',
    })
    expect(await logins()).toBe(before + 1)
  })

  it.for([
    ['405', 'client_outdated'],
    ['406', 'banned_by_whatsapp'],
  ] as const)(
    'is disconnected at once when WhatsApp refuses its login with %s',
    async ([code, reason], { expect }) => {
      const sender = `155507008${code.slice(1)}`
      await gateway.link(sender)
      await system.phones.fault({ kind: 'stream_error', code, sender, ms: 600_000 })
      expect(await untilStatus(gateway, sender, 'disconnected')).toMatchObject({ status_reason: reason })
      await clearFaultsOf(sender)
    },
  )

  it('is disconnected when its socket has been away for longer than the grace, and reconnects', async ({
    expect,
  }) => {
    const sender = '15550700004'
    await gateway.link(sender)
    await system.phones.fault({ kind: 'drop', sender, ms: 600_000 })
    // As if it had been away for so long.
    await until('the socket has been away', async () => {
      const rows = await system.database.$client`
        UPDATE devices SET offline_since = now() - interval '61 s'
        WHERE sender = ${sender} AND connection = 'offline' RETURNING id`
      return rows.length > 0
    })
    expect(await untilStatus(gateway, sender, 'disconnected')).toMatchObject({
      status_reason: 'connection_lost',
    })
    const kept = await gateway.call('send-message', { sender, number: contact, message: 'for later' })
    expect(kept).toMatchObject({ status: 200, body: { status: 'queued' } })
    await clearFaultsOf(sender)
    await untilStatus(gateway, sender, 'connected')
    await gateway.untilStatus(String(kept.body.message_id), 'delivered')
  })
})

describe.concurrent('a message is sent', () => {
  const sender = '15550700006'
  beforeAll(() => gateway.link(sender))

  /** Resolves when its bytes have arrived at WhatsApp. */
  async function sendAndArrive(number: string): Promise<string> {
    const { body } = await gateway.call('send-message', { sender, number, message: 'x' })
    const { wa_message_id } = await gateway.messageStatus(String(body.message_id))
    await until('WhatsApp has it', async () =>
      (await system.phones.log()).some((line) => line.wa_message_id === wa_message_id),
    )
    return String(body.message_id)
  }

  it('not when its bytes were written: as long as WhatsApp has not acknowledged it, it is being sent', async ({
    expect,
  }) => {
    const number = '15550700101'
    await system.phones.fault({ kind: 'ack_delay', sender, number, ms: 600_000, count: 1 })
    const id = await sendAndArrive(number)
    // In the time of another one it would be written down.
    await gateway.untilStatus(await sendAndArrive(contact), 'delivered')
    expect(await gateway.messageStatus(id)).toMatchObject({ status: 'sending', sent_at: null })
  })

  it('while WhatsApp does not say which devices another recipient has', async ({ expect }) => {
    const number = '15550700103'
    await system.phones.fault({ kind: 'devices_delay', sender, number, ms: 600_000 })
    const { body } = await gateway.call('send-message', { sender, number, message: 'x' })
    await gateway.untilStatus(await sendAndArrive(contact), 'delivered')
    expect(await gateway.messageStatus(String(body.message_id))).toMatchObject({ status: 'queued' })
  })

  it('when the recipient’s receipt comes, even if the acknowledgement was lost', async ({ expect }) => {
    const number = '15550700102'
    await system.phones.fault({ kind: 'ack_drop', sender, number, count: 1 })
    const id = await sendAndArrive(number)
    expect(await gateway.untilStatus(id, 'delivered')).toMatchObject({
      sent_at: expect.stringMatching(/Z$/),
    })
  })
})

it.concurrent('a device whose QR code is not scanned is disconnected again when its time is up', async ({
  expect,
}) => {
  const sender = '15550700005'
  const { status, body } = await gateway.call('generate-qr', { sender })
  expect({ status, body }).toMatchObject({ status: 200, body: { status: 'scanning' } })
  // Some of its two minutes have passed.
  await system.database.$client`
    UPDATE devices SET pairing_until = pairing_until - interval '115 s' WHERE sender = ${sender}`
  await untilStatus(gateway, sender, 'scanning')
  expect(await untilStatus(gateway, sender, 'disconnected')).toMatchObject({ status_reason: 'qr_expired' })
  await until('the code is shown no longer', async () => {
    const rows = await system.database
      .$client`SELECT FROM devices WHERE sender = ${sender} AND connection = 'scanning'`
    return rows.length === 0
  })
})

it('a scanned device is linked and connected while messages of a former link cannot be failed', async () => {
  const sender = '15550700007'
  // Nothing is written to messages from here on; they can be read.
  await whileLocked(system.database, 'messages IN SHARE ROW EXCLUSIVE MODE', async () => {
    await scan(gateway, sender, sender)
    await untilStatus(gateway, sender, 'connected')
  })
})
