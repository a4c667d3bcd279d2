import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import type { Answer } from '@wagate/test-kit/http-client'
import type { Phones } from '@wagate/test-kit/load/phones'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, type ExpectStatic, expect, it } from 'vitest'

const contact = '15550740099'
const appealToken = 'token-for-the-appeal'

let system: TestSystem
let gateway: GatewayClient
let phones: Phones
let clientVersion = '2.3000.1043857760'
const workers = ['worker-1', 'worker-2']

type Sender = { sender: string; loginsBefore: number }
function refusedWith(code: string, reason: string, more?: Record<string, unknown>) {
  /** As it was when its login had been refused. */
  const device: Record<string, unknown> = {}
  return { sender: `1555074${code}`, loginsBefore: 0, code, reason, more, device }
}

const appeal = { appeal_token: appealToken }
const banned = { expire: 86_400, ban_code: '101' }
/** All are refused in the beginning. Then Postgres, Redis and the workers are replaced, once for all of them. */
const refused = {
  banned: { ...refusedWith('402', 'temporarily_banned', banned), sender: '15550740001' },
  loggedOut: { ...refusedWith('402', 'temporarily_banned', banned), sender: '15550740002' },
  spam: refusedWith('403', 'blocked_by_whatsapp', { ...appeal, violation_reason: 'spam' }),
  blocked: refusedWith('406', 'banned_by_whatsapp', appeal),
  outdated: refusedWith('405', 'client_outdated'),
  outdatedToo: refusedWith('409', 'client_outdated'),
  mismatched: refusedWith('411', 'multi_device_mismatch'),
}
const replaced: Sender = { sender: '15550740440', loginsBefore: 0 }
/** Of the sender that was banned. */
let waiting: Answer

beforeAll(async () => {
  system = await openTestSystem({
    ownServers: true,
    // Another version from the next start on.
    environment: () => ({ WHATSAPP_VERSION: clientVersion }),
  })
  gateway = system.gateway
  phones = system.phones
  await Promise.all(Object.values(refused).map(refuseLogin))
  await link(replaced)
  await replaceConnection(replaced, 'connected')
  for (const server of ['postgres', 'redis']) {
    await system.devnet.stop(server)
    await system.devnet.start(server)
  }
  await replaceConnection(replaced, 'disconnected')
  await replaceWorkers()
  await gateway.call('set-device', { sender: refused.banned.sender, rate_per_minute: 600 })
  waiting = await send(refused.banned.sender)
  await untilAllAreLeftAlone()
}, 180_000)

afterAll(() => system?.close(), 30_000)

/** What WhatsApp answered to its logins, in order. */
async function loginsOf(sender: string): Promise<string[]> {
  const all = await phones.logins()
  return all.filter((login) => login.sender === sender).map(({ result }) => result)
}

/** The same since it was linked. */
async function loginsSince({ sender, loginsBefore }: Sender): Promise<string[]> {
  return (await loginsOf(sender)).slice(loginsBefore)
}

async function link(linked: Sender): Promise<void> {
  await gateway.link(linked.sender)
  linked.loginsBefore = (await loginsOf(linked.sender)).length
}

async function acceptAgain(sender: string): Promise<void> {
  const faults = await gateway.control<{ id: string; sender?: string }[]>('/faults')
  for (const { id } of faults.filter((fault) => fault.sender === sender)) await phones.clearFault(id)
}

const untilDevice = (sender: string, status: string, reason?: string) =>
  until(`${sender} is ${status}`, { withinMs: 60_000, everyMs: 50 }, async () => {
    const device = await gateway.statusOf(sender)
    return device.status === status && (reason === undefined || device.status_reason === reason) && device
  })

async function refuseLogin(one: ReturnType<typeof refusedWith>): Promise<void> {
  await link(one)
  const { sender, code, more } = one
  await phones.fault({ kind: 'login_failure', sender, code, ...more })
  one.device = await untilDevice(one.sender, 'disconnected', one.reason)
}

/** Another client logs in with the credentials of the sender. */
async function replaceConnection(of: Sender, next: 'connected' | 'disconnected'): Promise<void> {
  const before = (await loginsOf(of.sender)).length
  await phones.fault({ kind: 'stream_error', code: 'conflict', sender: of.sender })
  if (next === 'connected') await until('it is back', async () => (await loginsOf(of.sender)).length > before)
  await untilDevice(of.sender, next)
  of.loginsBefore = (await loginsOf(of.sender)).length
}

/** All workers crash. Their senders get other owners, which know only what is stored. */
async function replaceWorkers(): Promise<void> {
  for (const worker of workers) system.devnet.signal(worker, 'SIGKILL')
  await until('they are gone', () => !workers.some((worker) => system.devnet.names().includes(worker)))
  for (const worker of workers) await system.devnet.start(worker)
}

/** Resolves when the owners have decided, in a poll, not to log any of them in. */
async function untilAllAreLeftAlone(): Promise<void> {
  const wanted: Record<string, number> = { connection_replaced: 1 }
  for (const { reason } of Object.values(refused)) wanted[reason] = (wanted[reason] ?? 0) + 1
  const leftAlone = async () => {
    const counts: Record<string, number> = {}
    for (const worker of workers) {
      const metrics = await system.metricsOf(worker).catch(() => '')
      for (const [, reason = '', count] of metrics.matchAll(
        /^wagate_blocked_devices\{reason="(\w+)"\} (\d+)/gm,
      ))
        counts[reason] = (counts[reason] ?? 0) + Number(count)
    }
    return Object.entries(wanted).every(([reason, count]) => counts[reason] === count)
  }
  await until('all are counted as blocked', { withinMs: 60_000, everyMs: 100 }, leftAlone)
}

async function countKeys(sender: string): Promise<number> {
  const rows = await system.database.$client`
    SELECT FROM device_auth JOIN devices ON devices.id = device_id WHERE sender = ${sender}`
  return rows.length
}

async function logOut(sender: string): Promise<void> {
  await gateway.call('logout-device', { sender })
  await until('its credentials are wiped', async () => (await countKeys(sender)) === 0)
}

async function relink(sender: string, expect: ExpectStatic): Promise<void> {
  await acceptAgain(sender)
  const { body } = await gateway.call('generate-qr', { sender, force: true })
  await phones.scan(String(body.qr_text), sender)
  expect(await untilDevice(sender, 'connected')).not.toHaveProperty('login_after')
}

const send = (sender: string) =>
  gateway.call('send-message', { sender, number: contact, message: 'while it is away' })

describe.concurrent('a number that WhatsApp bans for a time (402)', () => {
  it('logs in once, and again only when the ban is over, despite restarts, commands and a new owner', async ({
    expect,
  }) => {
    const { sender, device } = refused.banned
    expect(device).toMatchObject({ status_detail: 'too_many_people', login_after: expect.any(String) })
    expect(waiting).toMatchObject({ status: 200, body: { status: 'queued' } })
    expect(String(waiting.body.warnings)).toContain('temporarily_banned')
    expect(await loginsSince(refused.banned)).toEqual(['402'])

    await acceptAgain(sender)
    await system.database.$client`UPDATE devices SET login_after = now() WHERE sender = ${sender}`
    await untilDevice(sender, 'connected')
    await gateway.untilStatus(String(waiting.body.message_id), 'delivered')
    expect(await loginsSince(refused.banned)).toEqual(['402', 'ok'])
    expect(await gateway.statusOf(sender)).not.toHaveProperty('status_detail')
  })

  it('stays logged out of WhatsApp over takeovers when the ban is long', async ({ expect }) => {
    const { sender, device } = refused.loggedOut
    expect(await loginsSince(refused.loggedOut)).toEqual(['402'])
    const { login_after } = device
    expect(await gateway.statusOf(sender)).toMatchObject({ login_after, status: 'disconnected' })

    // A login to log it out is a login as well.
    await logOut(sender)
    expect(await loginsSince(refused.loggedOut)).toEqual(['402'])
    expect(await gateway.companionsOf(sender)).toHaveLength(1)
    await relink(sender, expect)
  })
})

describe.concurrent.each([
  ['403', refused.spam],
  ['406', refused.blocked],
])('a number that WhatsApp refuses with %s', (code, one) => {
  it('logs in once, and again only when the user acts', async ({ expect }) => {
    const { sender, device, more } = one
    expect(device.status_detail).toBe(more?.violation_reason)
    expect(device).not.toHaveProperty('login_after')
    expect(await send(sender)).toMatchObject({ status: 409, body: { code: 'sender_blocked' } })
    expect(await loginsSince(one)).toEqual([code])
    expect([...system.logs().values()].join()).not.toContain(appealToken)

    await logOut(sender)
    expect(await loginsSince(one)).toEqual([code, code])
    await relink(sender, expect)
  })
})

it.concurrent.for([
  ['409', refused.outdatedToo, 200],
  ['411', refused.mismatched, 409],
] as const)(
  'a client that WhatsApp refuses with %s is reported as disconnected at once',
  async ([code, one, answer], { expect }) => {
    expect(one.device).toHaveProperty('login_after')
    expect((await send(one.sender)).status).toBe(answer)
    expect(await loginsSince(one)).toEqual([code])
    await relink(one.sender, expect)
  },
)

it.concurrent('a sender that another client replaced twice waits for its time, also after a takeover', async ({
  expect,
}) => {
  expect(await loginsSince(replaced)).toEqual([])
  expect(await gateway.statusOf(replaced.sender)).toHaveProperty('login_after')
})

it('a client that WhatsApp calls outdated logs in with another version only (405)', async () => {
  const { sender, device } = refused.outdated
  expect(device).toMatchObject({ status_detail: '405', login_after: expect.any(String) })
  expect(String((await send(sender)).body.warnings)).toContain('client_outdated')
  const said = [...system.logs().values()]
    .flatMap((log) => log.split('\n'))
    .filter((line) => line.includes('WhatsApp refuses the version of the client'))
    .map((line) => JSON.parse(line))
  expect(said).toContainEqual(expect.objectContaining({ code: 405, clientVersion }))
  expect(await loginsSince(refused.outdated)).toEqual(['405'])

  await acceptAgain(sender)
  clientVersion = '2.3000.1043857761'
  for (const worker of workers) {
    await system.devnet.stop(worker)
    await system.devnet.start(worker)
  }
  await untilDevice(sender, 'connected')
}, 60_000)
