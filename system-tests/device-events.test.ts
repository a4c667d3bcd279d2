import { eventTypeNames } from '@wagate/shared/event-types'
import { type EventObject, eventSchemaOf } from '@wagate/shared/objects/event-object'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ environment: { STATUS_GRACE_MS: '3000' } })
  gateway = system.gateway
}, 60_000)

afterAll(() => system?.close(), 30_000)

async function eventsOf(sender: string): Promise<EventObject[]> {
  const { device_id } = await gateway.statusOf(sender)
  const { body } = await gateway.get(`events?device_id=${device_id}&limit=100`)
  return body.events as EventObject[]
}

const typesOf = (events: EventObject[]) => events.map(({ type }) => type.replace('device.', ''))

const untilEvents = (sender: string, types: string[]) =>
  until(`the events of ${sender} are ${types.join(', ')}`, { withinMs: 60_000, everyMs: 100 }, async () => {
    const events = await eventsOf(sender)
    return typesOf(events).join() === types.join() && events
  })

it('tells the life of a sender in its order, as the documentation describes it', async () => {
  const sender = '15550900001'
  await gateway.link(sender)
  const past = ['qr', 'connected']
  await untilEvents(sender, past)
  for (const [path, body, type] of [
    ['time-lock', { seconds: 3600 }, 'restricted'],
    ['time-lock', { seconds: 0 }, 'restriction_ended'],
    ['new-chat-cap', { total: 30, seconds: 3600 }, 'quota'],
  ] as const) {
    await gateway.control(`/chats/${sender}/${path}`, body)
    past.push(type)
    await untilEvents(sender, past)
  }
  await gateway.control('/unlink', { number: sender })
  const events = await untilEvents(sender, [...past, 'unlinked'])
  for (const event of events) {
    const type = eventTypeNames.find((name) => name === event.type)
    expect(event).toEqual(type && eventSchemaOf(type).parse(event))
  }
  const device = { device_id: events[0]?.device_id, sender, name: sender }
  const statuses = ['scanning', 'connected', undefined, undefined, undefined, 'disconnected']
  expect(events.map(({ data }) => data.device)).toEqual(
    statuses.map((status) => ({ ...device, ...(status && { status }) })),
  )
  expect(events.at(-1)?.data.reason).toBe('logged_out')
})

it('says once that a sender is blocked, and that it was logged out on request', async () => {
  const sender = '15550900002'
  await gateway.link(sender)
  await untilEvents(sender, ['qr', 'connected'])
  await system.phones.fault({ kind: 'stream_error', code: '403', sender })
  const [, , blocked] = await untilEvents(sender, ['qr', 'connected', 'disconnected'])
  expect(blocked?.data).toMatchObject({ reason: 'blocked_by_whatsapp', device: { status: 'disconnected' } })
  await gateway.call('logout-device', { sender })
  const events = await untilEvents(sender, ['qr', 'connected', 'disconnected', 'unlinked'])
  expect(events.at(-1)?.data.reason).toBe('logout_requested')
})

it('says once that a sender is away for longer than the grace, and nothing of a takeover within it', async () => {
  const [away, moved] = ['15550900003', '15550900004']
  for (const sender of [away, moved]) {
    await gateway.link(sender)
    await untilEvents(sender, ['qr', 'connected'])
  }
  await system.phones.fault({ kind: 'drop', sender: away, ms: 6000 })
  const [, , lost] = await untilEvents(away, ['qr', 'connected', 'disconnected', 'connected'])
  expect(lost?.data.reason).toBe('connection_lost')

  const owner = await system.ownerOf(moved)
  system.devnet.signal(owner, 'SIGKILL')
  await until('the sender has another owner', async () => (await system.ownerOf(moved)) !== owner)
  await gateway.deliver(moved, '15550900099')
  const types = typesOf(await eventsOf(moved)).filter((type) => !type.startsWith('message.'))
  expect(types).toEqual(['qr', 'connected'])
}, 90_000)
