import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, it } from 'vitest'

const contact = '15552007002'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
}, 60_000)

afterAll(() => system?.close(), 30_000)

/** Links a sender that has written to the contact. */
async function link(sender: string): Promise<void> {
  await gateway.link(sender)
  await gateway.deliver(sender, contact)
}

const strikesOf = async (id: string) =>
  (await gateway.control<{ id: string; strikes: number }[]>('/faults')).find((fault) => fault.id === id)
    ?.strikes

async function start(fault: { kind: string; sender: string; [field: string]: unknown }): Promise<string> {
  return (await gateway.control<{ id: string }>('/faults', fault)).id
}

describe.concurrent('a recipient that WhatsApp has not answered for', () => {
  it('is never taken for one without an account when look-ups are limited', async ({ expect }) => {
    const sender = '15552007001'
    await link(sender)
    const recipients = ['15552007011', '15552007012', '15552007013']
    await start({ sender, kind: 'lookup_error', code: '429', backoff: 2, count: 2 })
    const ids = await Promise.all(recipients.map((number) => gateway.send(sender, number)))
    await gateway.deliver(sender, contact)
    for (const id of ids) expect(await gateway.messageStatus(id)).toMatchObject({ status: 'queued' })
    await Promise.all(ids.map((id) => gateway.untilStatus(id, 'delivered')))
  })

  it('is asked for again when the answer leaves it out, while others are sent to', async ({ expect }) => {
    const sender = '15552007003'
    await link(sender)
    const [missing, found] = ['15552007021', '15552007022'] as const
    const fault = await start({ sender, kind: 'lookup_omit', number: missing })
    const id = await gateway.send(sender, missing)
    await gateway.deliver(sender, found)
    await until('it was asked for', async () => ((await strikesOf(fault)) ?? 0) > 0)
    expect(await gateway.messageStatus(id)).toMatchObject({ status: 'queued' })
    await system.phones.clearFault(fault)
    await gateway.untilStatus(id, 'delivered')
  })

  it('does not keep the others of its query from being found', async ({ expect }) => {
    const sender = '15552007004'
    await link(sender)
    const [bad, ...others] = ['15552007031', '15552007032', '15552007033', '15552007034'] as const
    await start({ sender, kind: 'lookup_refuse', number: bad, code: '400' })
    const [refused = '', ...ids] = await Promise.all(
      [bad, ...others].map((number) => gateway.send(sender, number)),
    )
    await Promise.all(ids.map((id) => gateway.untilStatus(id, 'delivered')))
    expect(await gateway.messageStatus(refused)).toMatchObject({ status: 'queued' })
  })
})

it.concurrent('a refused look-up of devices makes new recipients wait as long as WhatsApp asks, and no others', async ({
  expect,
}) => {
  const sender = '15552007007'
  await link(sender)
  const [refused, another] = ['15552007041', '15552007042']
  expect((await gateway.call('check-number', { sender, number: another })).body.exists).toBe(true)
  const fault = await start({ sender, kind: 'devices_refuse', code: '429', backoff: 3600 })
  const ids = [await gateway.send(sender, refused)]
  await until('its devices were asked for', async () => (await strikesOf(fault)) === 1)
  ids.push(await gateway.send(sender, another))
  await gateway.deliver(sender, contact)
  for (const id of ids) expect((await gateway.messageStatus(id)).status).toBe('queued')
  expect(await strikesOf(fault)).toBe(1)
})

it.concurrent('a refused request for keys makes new recipients wait as long as WhatsApp asks, and no others', async ({
  expect,
}) => {
  const [other, known] = ['15552007005', '15552007052']
  await gateway.link(other)
  await gateway.deliver(other, known)
  const fault = await start({ kind: 'keys_refuse', sender: other, code: '429', backoff: 3600 })
  const ids = [await gateway.send(other, '15552007051')]
  await until('keys were asked for', async () => ((await strikesOf(fault)) ?? 0) > 0)
  await gateway.deliver(other, known)
  const asked = await strikesOf(fault)
  ids.push(await gateway.send(other, '15552007053'))
  await gateway.deliver(other, known)
  for (const id of ids) expect((await gateway.messageStatus(id)).status).toBe('queued')
  expect(await strikesOf(fault)).toBe(asked)
})

it.concurrent('a request for keys that is refused again and again leaves its message queued until WhatsApp answers', async ({
  expect,
}) => {
  const [other, recipient] = ['15552007006', '15552007061']
  await gateway.link(other)
  const fault = await start({ kind: 'keys_refuse', sender: other, code: '429', backoff: 1 })
  const id = await gateway.send(other, recipient)
  await until('keys were asked for again', async () => ((await strikesOf(fault)) ?? 0) >= 5)
  expect((await gateway.messageStatus(id)).status).toBe('queued')
  await system.phones.clearFault(fault)
  await gateway.untilStatus(id, 'delivered')
})
