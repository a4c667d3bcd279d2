import { setDevice as set } from '@wagate/db/queries/devices'
import { AppError } from '@wagate/shared/app-error'
import { z } from 'zod'
import { audit } from '../change.ts'
import { deviceObject, exampleDevice, toDeviceObject } from '../device-object.ts'
import { deviceLocator, getDevice } from '../locate-device.ts'
import { defineOperation } from '../operation.ts'
import { paceParameters } from '../pace.ts'
import { text } from '../parameters/parameter-types.ts'

const settings = {
  name: text(190).optional().describe('Label'),
  ...paceParameters('the account'),
}

export const setDevice = defineOperation({
  name: 'set-device',
  summary: 'Change the label of a sender or how fast it sends',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({ ...deviceLocator, ...settings }),
  fields: deviceObject,
  errors: ['missing_parameter', 'device_not_found'],
  example: {
    given: { device_id: 7, name: 'Shop', rate_per_minute: 30 },
    answer: { ...exampleDevice, rate_per_minute: 30 },
  },
  async handle({ name, rate_per_minute, burst, daily_cap, ...located }, call) {
    const given = { name, ratePerMinute: rate_per_minute, burst, dailyCap: daily_cap }
    if (Object.values(given).every((value) => value === undefined)) throw nothingGiven()
    const { db, command } = call.context
    const { id } = await getDevice(call, located)
    await db.transaction(async (tx) => {
      await set(tx, call.account.accountId, id, given)
      await audit(tx, call, { target: `device:${id}`, result: 'changed' })
    })
    command({ kind: 'apply-settings', deviceId: id })
    return toDeviceObject(await getDevice(call, { device_id: id }), call.context.config)
  },
})

function nothingGiven(): AppError {
  const names = Object.keys(settings)
  return new AppError('missing_parameter', `Give at least one of ${names.join(', ')}.`, {
    details: names.map((parameter) => ({ parameter, message: 'or another setting is missing' })),
  })
}
