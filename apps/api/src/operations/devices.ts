import { listDevices } from '@wagate/db/queries/devices'
import { z } from 'zod'
import { deviceObject, exampleDevice, toDeviceObject } from '../objects/device-object.ts'
import { defineOperation } from '../operation.ts'

export const devices = defineOperation({
  name: 'devices',
  summary: 'List the senders of the account',
  methods: ['GET'],
  changes: false,
  parameters: z.object({}),
  fields: z.object({ devices: z.array(deviceObject).describe('Sorted by `device_id`') }),
  example: { given: {}, answer: { devices: [exampleDevice] } },
  async handle(_, { context: { db, config }, principal }) {
    const devices = await listDevices(db, principal.accountId, config.devices.statusGraceMs)
    return { devices: devices.map((device) => toDeviceObject(device, config)) }
  },
})
