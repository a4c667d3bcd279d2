import { findSenderQueue, type SenderQueue } from '@wagate/db/queries/devices/sender-queue'
import { readClockMs } from '@wagate/db/queries/statements/clock'
import { extensibleEnum } from '@wagate/shared/objects/extensible-enum'
import type { Wait } from '@wagate/shared/objects/waiting-fields'
import { type Pacing, pacingOf } from '@wagate/shared/pacing'
import { estimateEnd } from '@wagate/shared/queue-estimate'
import { waitingReasons } from '@wagate/shared/waiting-reasons'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { deviceLocator, deviceNotFound, getDevice } from '../devices/device-locator.ts'
import { findWaits } from '../messages/waits.ts'
import { type DeviceObject, deviceFields, toDeviceObject } from '../objects/device-object.ts'

const countMax = 10_000
const sampleMax = 500
const upTo = `${countMax} means that many or more`

export const queue = defineOperation({
  name: 'queue',
  summary: 'Return what waits for a sender, why, and until when at least',
  methods: ['GET', 'POST'],
  changes: false,
  parameters: z.object(deviceLocator),
  fields: z.object({
    device_id: z.int(),
    sender: z.string().describe('Digits only'),
    status: deviceFields.status,
    sending_state: deviceFields.sending,
    sending_until: deviceFields.sending_until,
    waiting: z
      .object({ high: z.int(), normal: z.int(), bulk: z.int() })
      .describe(`Messages that may leave, by priority. ${upTo}`),
    scheduled: z.int().describe(`Messages with a later \`send_at\`. ${upTo}`),
    on_the_way: z.int().describe(`Messages that WhatsApp has not answered. ${upTo}`),
    oldest_at: z.iso
      .datetime()
      .nullable()
      .describe('When the oldest of those that may leave was accepted or due'),
    held_by: z
      .array(
        z.object({
          reason: extensibleEnum(Object.keys(waitingReasons)).describe('As `waiting_for` of a message'),
          count: z.int(),
          until: z.iso.datetime().nullable().describe('The earliest end, if one is known'),
        }),
      )
      .describe(`What the first ${sampleMax} messages wait for`),
    rate: z.object({
      allowed_per_minute: z.int().nullable().describe('null is unlimited'),
      last_10_minutes: z.int().describe(`Messages that WhatsApp has taken. ${upTo}`),
    }),
    today: z
      .object({ sent: z.int(), cap: z.int().nullable().describe('null is unlimited') })
      .describe('The UTC day'),
    new_contacts: z
      .object({ used: z.int(), allowed: z.int() })
      .nullable()
      .describe('Of the UTC day. null is unlimited'),
    estimate: z
      .object({
        empty_at: z.iso.datetime().describe('When all that may leave now has left, at the earliest'),
        basis: extensibleEnum(['pace', 'cap']).describe('What takes so long'),
      })
      .nullable()
      .describe(
        'null while it cannot be told: when nothing waits, without a connection, in a pause without an end, or when more wait than are counted',
      ),
  }),
  errors: ['missing_parameter', 'device_not_found'],
  example: {
    given: { sender: '4915112345678' },
    answer: {
      device_id: 7,
      sender: '4915112345678',
      status: 'connected',
      sending_state: 'active',
      waiting: { high: 0, normal: 12, bulk: 2400 },
      scheduled: 3,
      on_the_way: 1,
      oldest_at: '2026-01-31T11:20:00.000Z',
      held_by: [{ reason: 'pace', count: 500, until: null }],
      rate: { allowed_per_minute: 60, last_10_minutes: 600 },
      today: { sent: 9120, cap: null },
      new_contacts: { used: 3, allowed: 10 },
      estimate: { empty_at: '2026-01-31T12:40:12.000Z', basis: 'pace' },
    },
  },
  async handle(located, call) {
    const { db, config } = call.context
    const { accountId } = call.principal
    const device = await getDevice(call, located)
    const found = await findSenderQueue(db, accountId, device.id, { countMax, sampleMax })
    if (!found) throw deviceNotFound()
    const shown = toDeviceObject(device, config)
    const pacing = pacingOf(device, config.pacing)
    const first = found.first.map((message) => ({ ...message, deviceId: device.id }))
    const waits = await findWaits(db, accountId, first, config)
    const { new_contacts_allowed: allowed, new_contacts_used: used = 0 } = shown
    return {
      device_id: device.id,
      sender: device.sender,
      status: shown.status,
      sending_state: shown.sending,
      ...(shown.sending_until && { sending_until: shown.sending_until }),
      waiting: found.waiting,
      scheduled: found.scheduled,
      on_the_way: found.sending,
      oldest_at: found.oldestMs === null ? null : new Date(found.oldestMs).toISOString(),
      held_by: countReasons([...waits.values()]),
      rate: { allowed_per_minute: pacing.ratePerMinute || null, last_10_minutes: found.sentInTenMinutes },
      today: { sent: found.sentToday, cap: pacing.dailyCap || null },
      new_contacts: allowed === undefined ? null : { used, allowed },
      estimate: await estimate(call, found, shown, pacing),
    }
  },
})

async function estimate(
  { context: { db } }: Call,
  { waiting, sentToday }: SenderQueue,
  { status, sending, sending_until }: DeviceObject,
  pacing: Pacing,
) {
  const counts = Object.values(waiting)
  const messages = counts.reduce((sum, count) => sum + count, 0)
  const isHeld = sending !== 'active' && !sending_until
  if (messages === 0 || counts.includes(countMax) || isHeld || status !== 'connected') return null
  const nowMs = Math.max(await readClockMs(db.$client), Date.parse(sending_until ?? '') || 0)
  const { atMs, basis } = estimateEnd(messages, pacing, { nowMs, sentToday })
  return { empty_at: new Date(atMs).toISOString(), basis }
}

/** How many messages wait for each reason, the most frequent first. */
function countReasons(waits: Wait[]) {
  const reasons = [...new Set(waits.map(({ reason }) => reason))]
  const counted = reasons.map((reason) => {
    const same = waits.filter((wait) => wait.reason === reason)
    const ends = same
      .flatMap(({ until }) => until ?? [])
      .sort((one, other) => one.getTime() - other.getTime())
    return { reason, count: same.length, until: ends[0]?.toISOString() ?? null }
  })
  return counted.sort((one, other) => other.count - one.count)
}
