import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openSilentHost, type SilentHost } from '@wagate/test-kit/media/silent-host'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const recipient = '15552022002'

let system: TestSystem
let gateway: GatewayClient
let silentHost: SilentHost

beforeAll(async () => {
  silentHost = await openSilentHost()
  system = await openTestSystem()
  gateway = system.gateway
}, 60_000)

afterAll(async () => {
  silentHost?.close()
  await system?.close()
}, 30_000)

const send = (sender: string, message: string, number = recipient) => gateway.send(sender, number, message)

const statusesOf = async (ids: string[], { messageStatus } = gateway) =>
  (await Promise.all(ids.map(messageStatus))).map(({ status }) => status)

describe('pacing', () => {
  it.concurrent('keeps the rate that was set while the sender was connected', async ({ expect }) => {
    const sender = '15552022101'
    await gateway.link(sender)
    await gateway.untilStatus(await send(sender, 'unpaced'), 'delivered')
    await setPace(sender, { rate_per_minute: 600, burst: 1 })
    const ids = await Promise.all(Array.from({ length: 31 }, (_, index) => send(sender, `paced ${index}`)))
    await Promise.all(ids.map((id) => gateway.untilStatus(id, 'delivered')))
    const seen = (await system.phones.log())
      .filter((entry) => entry.sender === sender)
      .slice(1)
      .map(({ t }) => Date.parse(t))
    expect(seen).toHaveLength(31)
    // 30 pauses of 100 ms; a busy machine may make it longer, nothing may make it shorter.
    expect((seen.at(-1) ?? 0) - (seen[0] ?? 0)).toBeGreaterThan(30 * 100 * 0.9)
  })

  it.concurrent('keeps the rate of the account, which the settings of the sender cannot lift', async ({
    expect,
  }) => {
    const [sender, other] = ['15552022105', '15552022106']
    const own = await system.createAccount()
    await Promise.all([sender, other].map(own.link))
    await own.untilStatus(await own.send(sender, recipient, 'unpaced'), 'delivered')
    const account = await own.call('user-info', {})
    const setAccountPace = async (pace: Record<string, unknown>) =>
      expect(await system.admin.call('update-user', { user_id: account.body.id, ...pace })).toMatchObject({
        status: 200,
      })
    await setAccountPace({ rate_per_minute: 1, burst: 1 })
    await untilRepaced(Number((await own.statusOf(sender)).device_id))
    const ids = []
    for (const n of [1, 2, 3]) ids.push(await own.send(sender, `1555202221${n}`, `paced ${n}`))
    await own.untilStatus(ids[0] ?? '', 'delivered')
    expect(await statusesOf(ids.slice(1), own)).toEqual(['queued', 'queued'])
    await own.call('set-device', { sender, rate_per_minute: 0 })
    await own.untilStatus(await own.send(other, recipient, 'in the time of this it would leave'), 'delivered')
    expect(await statusesOf(ids.slice(1), own)).toEqual(['queued', 'queued'])
    await setAccountPace({ rate_per_minute: 'default', burst: 'default' })
    await Promise.all(ids.map((id) => own.untilStatus(id, 'delivered')))
  })

  it.concurrent('of one sender does not delay another, nor do media that never come or a lost connection', async ({
    expect,
  }) => {
    const [paced, media, offline, free] = [
      '15552022111',
      '15552022112',
      '15552022113',
      '15552022114',
    ] as const
    await Promise.all([paced, media, offline, free].map(gateway.link))
    await gateway.untilStatus(await send(paced, 'unpaced'), 'delivered')
    await setPace(paced, { rate_per_minute: 1, burst: 1 })
    await gateway.control('/faults', { kind: 'drop', sender: offline, ms: 600_000 })
    const slow = [
      ...(await Promise.all([1, 2, 3].map((n) => send(paced, `slow ${n}`)))).slice(1),
      ...(await Promise.all([1, 2, 3].map((n) => send(offline, `offline ${n}`)))),
    ]
    for (let n = 0; n < 8; n++) {
      const url = `${silentHost.url}/${n}`
      const { body } = await gateway.call('send-media', {
        sender: media,
        number: `1555202220${n}`,
        type: 'image',
        url,
      })
      slow.push(String(body.message_id))
    }
    const aside = await send(media, 'to another recipient')
    const quick = await Promise.all(Array.from({ length: 40 }, (_, n) => send(free, `quick ${n}`)))
    await Promise.all([...quick, aside].map((id) => gateway.untilStatus(id, 'delivered')))
    expect(new Set(await statusesOf(slow))).toEqual(new Set(['queued']))
  })

  it.concurrent('counts what is on the wire when the daily cap is set, once however often it is sent', async ({
    expect,
  }) => {
    const [sender, other] = ['15552022131', '15552022132'] as const
    await Promise.all([sender, other].map(gateway.link))
    // In the time of it, what may be sent would be on its way.
    const roundTrip = async () => gateway.untilStatus(await send(other, 'round trip'), 'delivered')
    const sendTo = (n: number) => send(sender, `capped ${n}`, `1555202230${n}`)
    const arrived = async () => (await system.phones.log()).filter((entry) => entry.sender === sender)
    for (const kind of ['ack_drop', 'no_receipts']) {
      await gateway.control('/faults', { kind, sender, count: 3 })
    }
    const onWire = await Promise.all([1, 2, 3].map(sendTo))
    await until('they have left', async () => (await arrived()).length === 3)
    await setPace(sender, { daily_cap: 3 })
    const over = await sendTo(4)
    await roundTrip()
    expect(await arrived()).toHaveLength(3)
    await gateway.control('/faults', { kind: 'drop', sender })
    await Promise.all(onWire.map((messageId) => gateway.untilStatus(messageId, 'delivered')))
    await roundTrip()
    expect(new Set((await arrived()).map((entry) => entry.wa_message_id)).size).toBe(3)
    expect(await statusesOf([over])).toEqual(['queued'])
  })

  it('holds what is over the daily cap, also after a change of owner, until the cap is raised', async () => {
    const [sender, other] = ['15552022121', '15552022122'] as const
    await Promise.all([sender, other].map(gateway.link))
    // In the time of it, what may be sent would be on its way.
    const roundTrip = async () => gateway.untilStatus(await send(other, 'round trip'), 'delivered')
    await gateway.untilStatus(await send(sender, 'before the cap was set'), 'delivered')
    await setPace(sender, { daily_cap: 3 })
    const ids = []
    for (const n of [1, 2, 3, 4, 5]) ids.push(await send(sender, `capped ${n}`))
    await Promise.all(ids.slice(0, 2).map((id) => gateway.untilStatus(id, 'delivered')))
    await roundTrip()
    expect(await statusesOf(ids.slice(2))).toEqual(['queued', 'queued', 'queued'])

    const owner = await system.ownerOf(sender)
    await system.devnet.stop(owner)
    await until('another worker owns it', async () => (await system.ownerOf(sender)) !== owner)
    await gateway.call('set-device', { sender, daily_cap: 4 })
    await gateway.untilStatus(ids[2] ?? '', 'delivered')
    await roundTrip()
    expect(await statusesOf(ids.slice(3))).toEqual(['queued', 'queued'])
    await gateway.call('set-device', { sender, daily_cap: 'default' })
    await Promise.all(ids.map((id) => gateway.untilStatus(id, 'delivered')))
  })
})

describe('delete-device', () => {
  it('unlinks the phone, fails what waits, keeps the history and accepts the same sender meanwhile', async () => {
    const sender = '15552022301'
    await gateway.link(sender)
    const { device_id } = await gateway.statusOf(sender)
    const sent = await send(sender, 'sent before')
    await gateway.untilStatus(sent, 'delivered')
    const scheduled = await gateway.call('send-message', {
      sender,
      number: recipient,
      message: 'never',
      send_at: new Date(Date.now() + 3_600_000).toISOString(),
    })
    const before = await gateway.companionsOf(sender)
    expect((await gateway.call('delete-device', { device_id })).status).toBe(200)
    await gateway.link(sender)

    const again = await gateway.statusOf(sender)
    expect(again.device_id).not.toBe(device_id)
    const failed = await gateway.untilStatus(String(scheduled.body.message_id), 'failed')
    expect(failed.error_code).toBe('sender_logged_out')
    await until('the former companion is gone from the phone', async () => {
      const now = await gateway.companionsOf(sender)
      return now.length === 1 && !now.includes(before[0] ?? '')
    })
    await untilRemoved(Number(device_id))
    expect(await gateway.messageStatus(sent)).toMatchObject({ status: 'delivered', message: 'sent before' })
    await gateway.untilStatus(await send(sender, 'through the new link'), 'delivered')
  })

  it('is finished by the next owner when the first one dies', async () => {
    const sender = '15552022302'
    await gateway.link(sender)
    const { device_id } = await gateway.statusOf(sender)
    const owner = await system.ownerOf(sender)
    system.devnet.signal(owner, 'SIGKILL')
    expect((await gateway.call('delete-device', { sender })).status).toBe(200)
    await until('the owner is gone', async () => !system.devnet.names().includes(owner))
    await system.devnet.start(owner)
    await until('the companion is gone', async () => (await gateway.companionsOf(sender)).length === 0)
    await untilRemoved(Number(device_id))
  })
})

/** Changes the pace of a connected sender; resolves when its owner has taken the change up. */
async function setPace(sender: string, pace: Record<string, unknown>): Promise<void> {
  const { body } = await gateway.call('set-device', { sender, ...pace })
  await untilRepaced(Number(body.device_id))
}

async function untilRepaced(deviceId: number): Promise<void> {
  const line = `"deviceId":${deviceId},"msg":"Applied the new pace of the device"`
  await until('the owner sends at the new pace', () =>
    [...system.logs().values()].some((log) => log.includes(line)),
  )
}

/** It stays for a while, which need not be waited for. */
async function untilRemoved(deviceId: number): Promise<void> {
  const sql = system.database.$client
  await sql`UPDATE devices SET deleted_at = now() - interval '1 min' WHERE id = ${deviceId}`
  await until('it is removed', async () => {
    const rows = await sql`
      SELECT id FROM devices WHERE id = ${deviceId} AND removed_at IS NULL
      UNION SELECT device_id FROM device_auth WHERE device_id = ${deviceId}`
    return rows.length === 0
  })
}
