import { createDevice, type Device, findDevice, type NewDevice } from '@wagate/db/queries/devices'
import { audit } from '../changes/idempotent-change.ts'
import { AppError } from '../errors/app-error.ts'
import type { Call } from '../operation.ts'
import { deviceNotFound } from './device-locator.ts'

/** The account's device of this sender, made if it has none. Throws `device_limit_reached`. */
export async function ensureDevice(
  call: Call,
  given: NewDevice,
): Promise<{ device: Device; isNew: boolean }> {
  const { db, config } = call.context
  const { accountId } = call.account
  const find = (from: Parameters<typeof findDevice>[0]) =>
    findDevice(from, accountId, { sender: given.sender }, config.STATUS_GRACE_MS)
  const existing = await find(db)
  if (existing) return { device: existing, isNew: false }
  return db.transaction(async (tx) => {
    const outcome = await createDevice(tx, accountId, given)
    if (outcome === 'limit_reached') {
      throw new AppError('device_limit_reached', 'The account has as many devices as it may have.')
    }
    const device = await find(tx)
    // Deleted in between.
    if (!device) throw deviceNotFound()
    const isNew = outcome === 'created'
    if (isNew) await audit(tx, call, { target: `device:${device.id}`, result: 'created' })
    return { device, isNew }
  })
}
