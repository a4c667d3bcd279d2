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
  const find = (deviceId: number | undefined, ofSender: string | undefined) =>
    findDevice(
      context.db,
      principal.accountId,
      { deviceId, sender: ofSender },
      context.config.devices.statusGraceMs,
    )
  const device = device_id === id ? await find(device_id, sender) : undefined
  if (device) return device
  if (device_id !== id) throw deviceNotFound('device_id and id name different devices.')
  if (device_id !== undefined && !(await find(device_id, undefined)))
    throw deviceNotFound('The account has no device with this ID. devices shows the IDs.')
  if (sender !== undefined && !(await find(undefined, sender))) {
    throw deviceNotFound(
      `The account has no sender ${sender}. Check the number with devices, or add it with create-device.`,
    )
  }
  throw deviceNotFound('sender and device_id name different devices.')
}

export function deviceNotFound(sentence = 'The account has no such device.'): AppError {
  return new AppError('device_not_found', sentence)
}
