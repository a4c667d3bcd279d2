import type { Database } from '@wagate/db/client'
import { createDevice, type Device, findDevice, type NewDevice } from '@wagate/db/queries/devices/devices'
import { audit } from '../changes/audit.ts'
import type { Config } from '../config.ts'
import { AppError } from '../errors/app-error.ts'
import { deviceNotFound } from './device-locator.ts'

type EnsuringCall = Parameters<typeof audit>[1] & {
  context: { db: Database; config: Pick<Config, 'devices'> }
}

/** The account's device for this sender, created if it does not exist. Throws `device_limit_reached`. */
export async function ensureDevice(
  call: EnsuringCall,
  newDevice: NewDevice,
): Promise<{ device: Device; isNew: boolean }> {
  const { db, config } = call.context
  const { accountId } = call.principal
  const find = (from: Parameters<typeof findDevice>[0]) =>
    findDevice(from, accountId, { sender: newDevice.sender }, config.devices.statusGraceMs)
  const existing = await find(db)
  if (existing) return { device: existing, isNew: false }
  return db.transaction(async (tx) => {
    const outcome = await createDevice(tx, accountId, newDevice)
    if (outcome === 'limit_reached') {
      throw new AppError('device_limit_reached', 'The account has reached its device limit.')
    }
    const device = await find(tx)
    // Deleted by a concurrent request.
    if (!device) throw deviceNotFound()
    const isNew = outcome === 'created'
    if (isNew) await audit(tx, call, { target: `device:${device.id}`, result: 'created' })
    return { device, isNew }
  })
}
