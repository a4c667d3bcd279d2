import { freePort } from '@wagate/local-servers/free-port'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import type { Phones } from '@wagate/test-kit/load/phones'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

const contact = '15550740099'
const appealToken = 'token-for-the-appeal'

let system: TestSystem
let gateway: GatewayClient
let phones: Phones
let clientVersion = '2.3000.1043857760'
const ports = new Map<string, number>()

beforeAll(async () => {
  for (const name of ['worker-1', 'worker-2']) ports.set(name, await freePort())
  system = await openTestSystem({
    ownServers: true,
    environment: (name) => ({
      OUTBOX_POLL_MS: '500',
      WHATSAPP_VERSION: clientVersion,
      ...(ports.has(name) && { METRICS_PORT: String(ports.get(name)) }),
    }),
  })
  gateway = system.gateway
  phones = system.phones
}, 60_000)

afterEach(() => phones.clearFaults())

afterAll(() => system?.close(), 30_000)

/** What WhatsApp answered to its logins, in order. */
async function loginsOf(sender: string): Promise<string[]> {
  const all = await phones.logins()
  return all.filter((login) => login.sender === sender).map(({ result }) => result)
}

async function refuse(sender: string, code: string, more: Record<string, unknown> = {}): Promise<void> {
  await phones.fault({ kind: 'login_failure', sender, code, ...more })
}

const untilDevice = (sender: string, status: string, reason?: string) =>
  until(`${sender} is ${status}`, { withinMs: 60_000, everyMs: 50 }, async () => {
    const device = await gateway.statusOf(sender)
    return device.status === status && (reason === undefined || device.status_reason === reason) && device
  })

/** Resolves when the present owner has decided, in a poll, not to log the device in. */
async function untilLeftAlone(sender: string, reason: string): Promise<void> {
  await until(`the owner counts ${reason}`, { withinMs: 60_000, everyMs: 100 }, async () => {
    const port = ports.get(await system.ownerOf(sender))
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`).then(
      (response) => response.text(),
      () => '',
    )
    return new RegExp(`^wagate_blocked_devices\\{reason="${reason}"\\} [1-9]`, 'm').test(metrics)
  })
}

/** Another worker takes the sender over, as after a crash. The one that ended comes back. */
async function takeOver(sender: string): Promise<void> {
  const former = await system.ownerOf(sender)
  system.devnet.signal(former, 'SIGKILL')
  await until('another worker owns it', async () => ![former, ''].includes(await system.ownerOf(sender)))
  await until('the former owner is gone', async () => !system.devnet.names().includes(former))
  await system.devnet.start(former)
}

async function countKeys(sender: string): Promise<number> {
  const rows = await system.database.$client`
    SELECT FROM device_auth JOIN devices ON devices.id = device_id WHERE sender = ${sender}`
  return rows.length
}

async function relink(sender: string): Promise<void> {
  await phones.clearFaults()
  const { body } = await gateway.call('generate-qr', { sender, force: true })
  await phones.scan(String(body.qr_text), sender)
  expect(await untilDevice(sender, 'connected')).not.toHaveProperty('login_after')
}

const send = (sender: string) =>
  gateway.call('send-message', { sender, number: contact, message: 'while it is away' })

describe('a number that WhatsApp bans for a time (402)', () => {
  it('logs in once, and again only when the ban is over, despite restarts, commands and a new owner', async () => {
    const sender = '15550740001'
    await gateway.link(sender)
    const before = (await loginsOf(sender)).length
    await refuse(sender, '402', { expire: 30, ban_code: '101' })
    const device = await untilDevice(sender, 'disconnected', 'temporarily_banned')
    expect(device).toMatchObject({ status_detail: 'too_many_people', login_after: expect.any(String) })

    await system.devnet.stop('postgres')
    await system.devnet.start('postgres')
    await system.devnet.stop('redis')
    await system.devnet.start('redis')
    await takeOver(sender)
    await gateway.call('set-device', { sender, rate_per_minute: 600 })
    const waiting = await send(sender)
    expect(waiting).toMatchObject({ status: 200, body: { status: 'queued' } })
    expect(String(waiting.body.warnings)).toContain('temporarily_banned')

    await untilDevice(sender, 'connected')
    await gateway.untilStatus(String(waiting.body.message_id), 'delivered')
    const refusals = (await loginsOf(sender)).slice(before).filter((result) => result !== 'ok')
    expect(refusals).toEqual(['402'])
    expect(await gateway.statusOf(sender)).not.toHaveProperty('status_detail')
  }, 120_000)

  it('stays logged out of WhatsApp over takeovers when the ban is long', async () => {
    const sender = '15550740002'
    await gateway.link(sender)
    await refuse(sender, '402', { expire: 86_400 })
    const { login_after } = await untilDevice(sender, 'disconnected', 'temporarily_banned')
    const logins = await loginsOf(sender)
    await takeOver(sender)
    await untilLeftAlone(sender, 'temporarily_banned')
    expect(await loginsOf(sender)).toEqual(logins)
    expect(await gateway.statusOf(sender)).toMatchObject({ login_after, status: 'disconnected' })

    // A login to log it out is a login as well.
    await gateway.call('logout-device', { sender })
    await until('its credentials are wiped', async () => (await countKeys(sender)) === 0)
    expect(await loginsOf(sender)).toEqual(logins)
    expect(await gateway.companionsOf(sender)).toHaveLength(1)
    await relink(sender)
  }, 120_000)
})

describe.each([
  ['403', 'blocked_by_whatsapp', 'spam'],
  ['406', 'banned_by_whatsapp', undefined],
])('a number that WhatsApp refuses with %s', (code, reason, violation) => {
  it('logs in once, and again only when the user acts', async () => {
    const sender = `1555074${code}`
    await gateway.link(sender)
    const before = (await loginsOf(sender)).length
    await refuse(sender, code, {
      appeal_token: appealToken,
      ...(violation && { violation_reason: violation }),
    })
    const device = await untilDevice(sender, 'disconnected', reason)
    expect(device.status_detail).toBe(violation)
    expect(device).not.toHaveProperty('login_after')
    expect(await send(sender)).toMatchObject({ status: 409, body: { code: 'sender_blocked' } })
    await takeOver(sender)
    await untilLeftAlone(sender, reason)
    expect((await loginsOf(sender)).slice(before)).toEqual([code])
    expect([...system.logs().values()].join('\n')).not.toContain(appealToken)

    await gateway.call('logout-device', { sender })
    await until('its credentials are wiped', async () => (await countKeys(sender)) === 0)
    expect((await loginsOf(sender)).slice(before)).toEqual([code, code])
    await relink(sender)
  }, 120_000)
})

describe('a client that WhatsApp calls outdated', () => {
  it('logs in with another version only (405)', async () => {
    const sender = '15550740005'
    await gateway.link(sender)
    const before = (await loginsOf(sender)).length
    await refuse(sender, '405')
    const device = await untilDevice(sender, 'disconnected', 'client_outdated')
    expect(device).toMatchObject({ status_detail: '405', login_after: expect.any(String) })
    expect(String((await send(sender)).body.warnings)).toContain('client_outdated')
    const said = [...system.logs().values()]
      .join('\n')
      .split('\n')
      .find((line) => line.includes('WhatsApp refuses the version of the client'))
    expect(JSON.parse(said ?? '{}')).toMatchObject({ code: 405, clientVersion })
    await takeOver(sender)
    await untilLeftAlone(sender, 'client_outdated')
    expect((await loginsOf(sender)).slice(before)).toEqual(['405'])

    await phones.clearFaults()
    clientVersion = '2.3000.1043857761'
    for (const worker of ports.keys()) {
      await system.devnet.stop(worker)
      await system.devnet.start(worker)
    }
    await untilDevice(sender, 'connected')
  }, 120_000)

  it.each([
    ['409', 'client_outdated', 200],
    ['411', 'multi_device_mismatch', 409],
  ])(
    'is reported as disconnected at once (%s)',
    async (code, reason, answer) => {
      const sender = `1555074${code}`
      await gateway.link(sender)
      const before = (await loginsOf(sender)).length
      await refuse(sender, code)
      const device = await untilDevice(sender, 'disconnected', reason)
      expect(device).toHaveProperty('login_after')
      expect((await send(sender)).status).toBe(answer)
      await untilLeftAlone(sender, reason)
      expect((await loginsOf(sender)).slice(before)).toEqual([code])
      await relink(sender)
    },
    60_000,
  )
})

describe('a login that WhatsApp refuses for now', () => {
  it('is tried again, and the reason is known meanwhile', async () => {
    const codes = ['400', '413', '414', '415', '418', '429', '500', '501', '503']
    await Promise.all(
      codes.map(async (code) => {
        const sender = `1555074${code}`
        await gateway.link(sender)
        const before = (await loginsOf(sender)).length
        await refuse(sender, code, { count: 2 })
        await until(`the reason of ${code} is stored`, { withinMs: 20_000, everyMs: 50 }, async () => {
          const rows = await system.database.$client`
            SELECT FROM devices WHERE sender = ${sender}
              AND status_reason = 'whatsapp_unavailable' AND status_detail = ${code}`
          return rows.length > 0
        })
        await until(`it is logged in after ${code}`, { withinMs: 20_000, everyMs: 100 }, async () =>
          (await loginsOf(sender)).slice(before).includes('ok'),
        )
        expect((await loginsOf(sender)).slice(before)).toEqual([code, code, 'ok'])
      }),
    )
  }, 60_000)
})

it('a sender that another client replaced twice waits for its time, also after a takeover', async () => {
  const sender = '15550740440'
  await gateway.link(sender)
  for (const next of ['connected', 'disconnected']) {
    const before = (await loginsOf(sender)).length
    await phones.fault({ kind: 'stream_error', code: 'conflict', sender })
    if (next === 'connected') await until('it is back', async () => (await loginsOf(sender)).length > before)
    await untilDevice(sender, next)
  }
  const logins = await loginsOf(sender)
  await takeOver(sender)
  await untilLeftAlone(sender, 'connection_replaced')
  expect(await loginsOf(sender)).toEqual(logins)
  expect(await gateway.statusOf(sender)).toHaveProperty('login_after')
}, 60_000)
