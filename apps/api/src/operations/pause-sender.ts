import { setSenderPause } from '@wagate/db/queries/devices/sender-pause'
import { readClockMs } from '@wagate/db/queries/statements/clock'
import { pauseModes } from '@wagate/shared/sender-pause'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { deviceLocator, deviceNotFound, getDevice } from '../devices/device-locator.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import { type DeviceObject, deviceObject, exampleDevice, toDeviceObject } from '../objects/device-object.ts'
import { moment } from '../parameters/parameter-types.ts'

const daysMax = 366

export const pauseSender = defineOperation({
  name: 'pause-sender',
  summary: 'Let the messages of a sender wait, and accept further ones or refuse them',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    ...deviceLocator,
    mode: z
      .enum(pauseModes)
      .optional()
      .describe(
        '`hold`, by default: messages are accepted, and wait. `refuse`: sends fail with `sender_paused`, and what was accepted waits. What is on its way to WhatsApp arrives in any case',
      ),
    until: moment
      .optional()
      .describe(
        `Time at which the pause ends, up to ${daysMax} days ahead. By default it lasts until \`resume-sender\``,
      ),
  }),
  fields: deviceObject,
  errors: ['missing_parameter', 'device_not_found'],
  example: {
    given: { device_id: 7, until: '2026-01-31T18:00:00Z' },
    answer: { ...exampleDevice, sending: 'held', sending_until: '2026-01-31T18:00:00.000Z' },
  },
  handle: ({ mode = 'hold', until = null, ...located }, call) => applyPause(call, located, { mode, until }),
})

export const resumeSender = defineOperation({
  name: 'resume-sender',
  summary: 'End the pause of a sender',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object(deviceLocator),
  fields: deviceObject,
  errors: ['missing_parameter', 'device_not_found'],
  example: { given: { device_id: 7 }, answer: exampleDevice },
  handle: (located, call) => applyPause(call, located, null),
})

/** Repeated, it changes nothing, and answers the same. */
async function applyPause(
  call: Call,
  located: Parameters<typeof getDevice>[1],
  pause: Parameters<typeof setSenderPause>[3],
): Promise<DeviceObject> {
  const { db, notify, config } = call.context
  const { accountId } = call.principal
  const { id } = await getDevice(call, located)
  const aheadMs = pause?.until ? pause.until.getTime() - (await readClockMs(db.$client)) : 1
  if (aheadMs <= 0 || aheadMs > daysMax * 86_400_000)
    throw invalidParameter('until', `must be in the next ${daysMax} days`)
  const isChanged = await db.transaction(async (tx) => {
    const isChanged = await setSenderPause(tx, accountId, id, pause)
    if (isChanged === undefined) throw deviceNotFound()
    const result = pause ? (pause.mode === 'hold' ? 'held' : 'refusing') : 'resumed'
    if (isChanged) await audit(tx, call, { target: `device:${id}`, result })
    return isChanged
  })
  if (isChanged) {
    notify.enqueueCommand({ kind: 'apply-settings', deviceId: id })
    notify.publishEventHint(accountId)
  }
  return toDeviceObject(await getDevice(call, { device_id: id }), config)
}
