import { type Device, findDevice } from '@wagate/db/queries/devices'
import { AppError } from '../errors/app-error.ts'
import type { Call } from '../operation.ts'
import { deviceId, phone } from '../parameters/parameter-types.ts'

/** How an operation is told which device: any of the three; those that are given must agree. */
export const deviceLocator = {
  device_id: deviceId.optional().describe('The id of the device'),
  id: deviceId.optional().describe('The same as device_id'),
  sender: phone.optional().describe('The phone number of the device'),
}

type Located = { device_id?: number | undefined; id?: number | undefined; sender?: string | undefined }

/** Throws `missing_parameter` or `device_not_found`. */
export async function getDevice({ context, account }: Call, located: Located): Promise<Device> {
  const { device_id = located.id, id = device_id, sender } = located
  if (device_id === undefined && sender === undefined) {
    const message = 'or sender is missing'
    throw new AppError('missing_parameter', `device_id ${message}`, {
      details: [{ parameter: 'device_id', message }],
    })
  }
  const device =
    device_id === id
      ? await findDevice(
          context.db,
          account.accountId,
          { deviceId: device_id, sender },
          context.config.STATUS_GRACE_MS,
        )
      : undefined
  if (!device) throw deviceNotFound()
  return device
}

export function deviceNotFound(): AppError {
  return new AppError('device_not_found', 'The account has no such device.')
}
