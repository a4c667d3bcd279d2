import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { deviceLocator, getDevice } from '../devices/device-locator.ts'
import { deviceObject, exampleDevice, toDeviceObject } from '../objects/device-object.ts'

export const infoDevice = defineOperation({
  name: 'info-device',
  summary: 'Return the status of a sender',
  methods: ['GET', 'POST'],
  changes: false,
  parameters: z.object(deviceLocator),
  fields: deviceObject,
  errors: ['missing_parameter', 'device_not_found'],
  example: { given: { sender: '4915112345678' }, answer: exampleDevice },
  handle: async (located, call) => toDeviceObject(await getDevice(call, located), call.context.config),
})
