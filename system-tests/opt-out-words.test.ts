import type { EventObject } from '@wagate/shared/objects/event-object'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15550940001'
const contact = '15550940002'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  const environment = { OPT_OUT_WORDS: 'stop,unsubscribe', OPT_IN_WORDS: 'start' }
  system = await openTestSystem({ workers: 1, environment })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

const write = (text: string) => gateway.control(`/chats/${contact}/send`, { to: sender, text })

const untilEvents = (...types: string[]) =>
  until(`the events are ${types}`, async () => {
    const { events } = (await gateway.get('events?types=recipient.opted_out,recipient.opted_in')).body
    return types.join() === (events as EventObject[]).map(({ type }) => type).join()
  })

it('a contact that writes a word gets no more messages, until it writes the other', async () => {
  await write('Do not stop')
  await gateway.deliver(sender, contact, 'still wanted')
  await write('STOP')
  await untilEvents('recipient.opted_out')
  const refused = await gateway.untilStatus(await gateway.send(sender, contact, 'refused'), 'failed')
  expect(refused.error_code).toBe('opted_out')
  const { opt_outs } = (await gateway.get('opt-outs')).body
  expect(opt_outs).toMatchObject([{ number: contact }])
  await write(' start ')
  await untilEvents('recipient.opted_out', 'recipient.opted_in')
  await gateway.deliver(sender, contact, 'wanted again')
  const texts = (await gateway.phone(contact, sender)).map(({ text }) => text)
  expect(texts).toEqual(['still wanted', 'wanted again'])
})
