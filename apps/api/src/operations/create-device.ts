import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { ensureDevice } from '../devices/ensure-device.ts'
import { deviceFields, exampleDevice, toDeviceObject } from '../objects/device-object.ts'
import { phone, text } from '../parameters/parameter-types.ts'

export const createDevice = defineOperation({
  name: 'create-device',
  summary: 'Add a sender to the account; generate-qr starts its session',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    sender: phone.describe('Phone number of the WhatsApp account'),
    name: text(190).optional().describe('Label; the phone number by default'),
    cms_id: text(190).optional().describe('Free text, stored with the device'),
    cms_ver: text(190).optional().describe('Free text, stored with the device'),
  }),
  fields: z.object({
    ...deviceFields,
    created: z.boolean().describe('false if the account already has the sender; nothing was changed'),
  }),
  errors: ['device_limit_reached'],
  example: {
    given: { sender: '4915112345678', name: 'Shop', cms_id: 'shop-1', cms_ver: '2.0' },
    answer: { ...exampleDevice, status: 'disconnected', last_seen_at: null, created: true },
  },
  async handle({ sender, name = sender, cms_id = null, cms_ver = null }, call) {
    const { device, isNew } = await ensureDevice(call, { sender, name, cmsId: cms_id, cmsVer: cms_ver })
    return { ...toDeviceObject(device, call.context.config), created: isNew }
  },
})
