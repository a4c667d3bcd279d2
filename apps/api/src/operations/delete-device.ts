import { requestRemoval } from '@wagate/db/queries/devices/device-desired-state'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { deviceLocator, deviceNotFound, getDevice } from '../devices/device-locator.ts'
import { deviceFields } from '../objects/device-object.ts'

export const deleteDevice = defineOperation({
  name: 'delete-device',
  summary: 'Log a sender out of WhatsApp and delete it; its messages stay in the history',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object(deviceLocator),
  fields: z.object({
    device_id: deviceFields.device_id,
    sender: deviceFields.sender,
    deleted: z.literal(true),
  }),
  errors: ['missing_parameter', 'device_not_found'],
  example: { given: { device_id: 7 }, answer: { device_id: 7, sender: '4915112345678', deleted: true } },
  async handle(located, call) {
    const { db, events, notify } = call.context
    const device = await getDevice(call, located)
    await db.transaction(async (tx) => {
      if (!(await requestRemoval(tx, call.principal.accountId, device.id))) throw deviceNotFound()
      await audit(tx, call, { target: `device:${device.id}`, result: 'deleted' })
    })
    notify.publishEventHint(call.principal.accountId)
    notify.enqueueCommand({ kind: 'end-session', deviceId: device.id })
    await events.devices.clearQr(device.id)
    return { device_id: device.id, sender: device.sender, deleted: true as const }
  },
})
