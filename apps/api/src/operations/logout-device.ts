import { requestUnlink } from '@wagate/db/queries/devices/device-desired-state'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { deviceLocator, getDevice } from '../devices/device-locator.ts'
import { deviceFields } from '../objects/device-object.ts'

export const logoutDevice = defineOperation({
  name: 'logout-device',
  summary: 'Log a sender out of WhatsApp; its record is kept',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object(deviceLocator),
  fields: z.object({
    device_id: deviceFields.device_id,
    sender: deviceFields.sender,
    status: z.literal('disconnected'),
  }),
  errors: ['missing_parameter', 'device_not_found'],
  example: {
    given: { device_id: 7 },
    answer: { device_id: 7, sender: '4915112345678', status: 'disconnected' },
  },
  async handle(located, call) {
    const { db, events, notify } = call.context
    const device = await getDevice(call, located)
    await db.transaction(async (tx) => {
      if (!(await requestUnlink(tx, call.principal.accountId, device.id))) return
      await audit(tx, call, { target: `device:${device.id}`, result: 'unlinked' })
    })
    notify.publishEventHint(call.principal.accountId)
    notify.enqueueCommand({ kind: 'end-session', deviceId: device.id })
    // The next pairing must not return the QR code of this one.
    await events.devices.clearQr(device.id)
    return { device_id: device.id, sender: device.sender, status: 'disconnected' as const }
  },
})
