import { z } from 'zod'
import { deviceFields, toDeviceObject } from '../device-object.ts'
import { deviceLocator, getDevice } from '../locate-device.ts'
import { defineOperation } from '../operation.ts'

export const infoDevice = defineOperation({
  name: 'info-device',
  summary: 'Return the status of a sender',
  methods: ['GET', 'POST'],
  changes: false,
  parameters: z.object(deviceLocator),
  fields: z.object(deviceFields),
  handle: async (located, call) => toDeviceObject(await getDevice(call, located), call.context.config),
})
