import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let system: TestSystem
let gateway: GatewayClient
let numbers = 0

beforeAll(async () => {
  system = await openTestSystem({ environment: { STATUS_GRACE_MS: '0' } })
  gateway = system.gateway
}, 60_000)
afterAll(() => system?.close(), 30_000)

const newNumber = () => `15551500${100 + ++numbers}`
const restart = (of: string) => gateway.call('restart-session', { sender: of })

async function link(): Promise<string> {
  const sender = newNumber()
  await gateway.link(sender)
  return sender
}

/** What WhatsApp answered to its logins, in order. */
async function loginsOf(number: string): Promise<string[]> {
  const all = await system.phones.logins()
  return all.filter((login) => login.sender === number).map(({ result }) => result)
}

describe('a restart of the session', () => {
  it.concurrent('logs in once more with the same link', async ({ expect }) => {
    const sender = await link()
    const [companions, before] = [await gateway.companionsOf(sender), await loginsOf(sender)]
    const { status, body } = await restart(sender)
    expect(status).toBe(200)
    expect(body).toMatchObject({ sender, status: 'connected', restarted: true })
    expect(await loginsOf(sender)).toEqual([...before, 'ok'])
    expect(await gateway.companionsOf(sender)).toEqual(companions)
    await gateway.deliver(sender, newNumber())
    expect((await restart(sender)).body.restarted).toBe(true)
    expect(await loginsOf(sender)).toHaveLength(before.length + 2)
  })

  it.concurrent('loses, repeats and reorders no message, acknowledged or not', async ({ expect }) => {
    const sender = await link()
    const number = newNumber()
    await gateway.deliver(sender, number)
    // Longer than a restart waits for acknowledgements.
    const { id: delay } = await gateway.control<{ id: string }>('/faults', {
      kind: 'ack_delay',
      sender,
      ms: 1500,
      share: 0.3,
    })
    const texts = Array.from({ length: 40 }, (_, index) => `message ${index}`)
    const ids: string[] = []
    for (const text of texts) {
      ids.push(await gateway.send(sender, number, text))
      if (ids.length % 15 === 0) expect((await restart(sender)).body.restarted).toBe(true)
    }
    await system.phones.clearFault(delay)
    for (const id of ids) await gateway.untilStatus(id, 'delivered')
    const received = (await gateway.phone(number)).map(({ text }) => text)
    expect(received.slice(1)).toEqual(texts)
  }, 60_000)

  it.concurrent('is one for all that ask for it at the same time', async ({ expect }) => {
    const sender = await link()
    const before = await loginsOf(sender)
    const answers = await Promise.all(Array.from({ length: 10 }, () => restart(sender)))
    for (const { body } of answers) expect(body).toMatchObject({ restarted: true })
    const logins = (await loginsOf(sender)).length - before.length
    expect(logins).toBeGreaterThan(0)
    // A request that comes after the login of another one asks for the next.
    expect(logins).toBeLessThan(4)
  })

  it.concurrent('logs a banned number in no more before its time', async ({ expect }) => {
    const sender = await link()
    await system.phones.fault({ kind: 'login_failure', sender, code: '402', expire: 3600 })
    const first = (await restart(sender)).body
    expect(first).toMatchObject({
      restarted: false,
      status: 'disconnected',
      status_reason: 'temporarily_banned',
      login_after: expect.any(String),
    })
    const logins = await loginsOf(sender)
    expect(logins.at(-1)).toBe('402')
    for (let count = 0; count < 3; count++) {
      expect((await restart(sender)).body).toMatchObject({ restarted: false, login_after: first.login_after })
    }
    expect(await loginsOf(sender)).toEqual(logins)
  })

  it.concurrent('says when WhatsApp has ended the link meanwhile', async ({ expect }) => {
    const sender = await link()
    await system.phones.fault({ kind: 'login_failure', sender, code: '401', count: 1 })
    expect(await restart(sender)).toMatchObject({ status: 409, body: { code: 'sender_not_connected' } })
    expect(await gateway.statusOf(sender)).toMatchObject({ status_reason: 'logged_out' })
  })
})

it.concurrent('a restart needs a linked sender of the account', async ({ expect }) => {
  const sender = await link()
  const unlinked = newNumber()
  await gateway.call('create-device', { sender: unlinked })
  expect(await restart(unlinked)).toMatchObject({ status: 409, body: { code: 'sender_not_connected' } })
  const stranger = await system.createAccount()
  const other = newNumber()
  const [foreign, unknown] = [
    await stranger.call('restart-session', { sender }),
    await stranger.call('restart-session', { sender: other }),
  ]
  expect(foreign).toMatchObject({ status: 404, body: { code: 'device_not_found' } })
  expect(foreign.body.error).toBe(String(unknown.body.error).replace(other, sender))
})

it('a restart is done by the next owner when its owner is killed', async () => {
  const sender = await link()
  const before = await loginsOf(sender)
  await system.phones.fault({ kind: 'login_failure', sender, code: '503', count: 1 })
  const answer = restart(sender)
  await until('the login was refused', async () => (await loginsOf(sender)).length > before.length)
  const owner = await system.ownerOf(sender)
  system.devnet.signal(owner, 'SIGKILL')
  expect((await answer).body).toMatchObject({ restarted: true, status: 'connected' })
  expect(await loginsOf(sender)).toEqual([...before, '503', 'ok'])
  await until('the former owner is gone', async () => !system.devnet.names().includes(owner))
  await system.devnet.start(owner)
}, 60_000)
