import type { Database } from '@wagate/db/client'
import { type Device, findDevice } from '@wagate/db/queries/devices/devices'
import type { Config } from '../config.ts'
import { AppError } from '../errors/app-error.ts'
import { phone, recordId } from '../parameters/parameter-types.ts'

/** The parameters that select a device. Any one of them is enough; if several are given, they must agree. */
export const deviceLocator = {
  device_id: recordId.optional().describe('ID of the device'),
  id: recordId.optional().describe('Alias of device_id'),
  sender: phone.optional().describe('Phone number of the device'),
}

type DeviceLocation = {
  device_id?: number | undefined
  id?: number | undefined
  sender?: string | undefined
}

type DeviceCall = {
  context: { db: Database; config: Pick<Config, 'devices'> }
  principal: { accountId: number }
}

/** Throws `missing_parameter` or `device_not_found`. */
export async function getDevice(
  { context, principal }: DeviceCall,
  location: DeviceLocation,
): Promise<Device> {
  const { device_id = location.id, id = device_id, sender } = location
  if (device_id === undefined && sender === undefined) {
    const message = 'or sender is required'
    throw new AppError('missing_parameter', `device_id ${message}`, {
      details: [{ parameter: 'device_id', message }],
    })
  }
  const device =
    device_id === id
      ? await findDevice(
          context.db,
          principal.accountId,
          { deviceId: device_id, sender },
          context.config.devices.statusGraceMs,
        )
      : undefined
  if (!device) throw deviceNotFound()
  return device
}

export function deviceNotFound(): AppError {
  return new AppError('device_not_found', 'The account has no such device.')
}
