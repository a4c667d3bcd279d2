import type { ComposedType } from '@wagate/shared/message-kinds'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { afterAll, beforeAll, expect, test } from 'vitest'

type Fields = Record<string, unknown>

const sender = '15552083001'
const number = '15552083002'
let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem()
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

type Example = {
  operation: string
  given: Fields
  /** How `messages` and events have it. */
  recorded: Fields
  /** What the phone of the recipient shows. */
  shown: Fields
  /** Values that are refused instead of those that are given, by parameter. */
  refused: Record<string, unknown[]>
}

/** Kinds that are sent with a file are in message-path.test.ts. */
const kinds: Record<ComposedType, Example> = {
  text: {
    operation: 'send-message',
    given: { message: 'On its way 😀' },
    recorded: { message: 'On its way 😀', caption: null, content: null },
    shown: { text: 'On its way 😀' },
    refused: { message: ['  ', 'x'.repeat(4097), 5] },
  },
}

test.each(Object.entries(kinds))(
  '%s goes from HTTP to a phone, the history and events',
  async (type, kind) => {
    const { operation, given, recorded, shown } = kind
    const { status, body } = await gateway.call(operation, { sender, number, ...given })
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'queued' } })
    const message = await gateway.untilStatus(String(body.message_id), 'delivered')
    const record = { direction: 'out', type, url: null, filename: null, media: null, ...recorded }
    expect(await gateway.history()).toContainEqual(
      expect.objectContaining({ message_id: body.message_id, ...record }),
    )
    const { events } = (await gateway.get('events?types=message.accepted')).body
    const event = (events as { data: Fields }[]).find(({ data }) => data.message_id === body.message_id)
    expect(event?.data.message).toMatchObject(record)
    const onPhone = await gateway.phone(number, sender)
    const { wa_message_id } = message
    expect(onPhone).toContainEqual(expect.objectContaining({ wa_message_id, type, duplicates: 0, ...shown }))
  },
)

const refusals = Object.values(kinds).flatMap(({ operation, given, refused }) =>
  Object.entries(refused).flatMap(([parameter, values]) =>
    values.map((value) => ({ operation, parameter, value, given })),
  ),
)

test.each(refusals)(
  '$operation refuses $value as $parameter',
  async ({ operation, parameter, value, given }) => {
    const fields = { sender, number, ...given, [parameter]: value }
    expect(await gateway.call(operation, fields)).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: [{ parameter }] },
    })
  },
)
