import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { applyPause } from '../devices/apply-pause.ts'
import { deviceLocator } from '../devices/device-locator.ts'
import { deviceObject, exampleDevice } from '../objects/device-object.ts'

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
