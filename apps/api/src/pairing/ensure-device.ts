import { createDevice, type Device, findDevice, type NewDevice } from '@wagate/db/queries/devices'
import { AppError } from '@wagate/shared/app-error'
import type { Call } from '../operation.ts'

/** The account's device of this sender, made if it has none. Throws `device_limit_reached`. */
export async function ensureDevice(
  { context: { db, config }, account: { accountId } }: Call,
  given: NewDevice,
): Promise<{ device: Device; isNew: boolean }> {
  const find = () => findDevice(db, accountId, { sender: given.sender }, config.STATUS_GRACE_MS)
  const existing = await find()
  if (existing) return { device: existing, isNew: false }
  const outcome = await createDevice(db, accountId, given)
  if (outcome === 'limit_reached') {
    throw new AppError('device_limit_reached', 'The account has as many devices as it may have.')
  }
  const device = await find()
  // Deleted in between.
  if (!device) throw new AppError('device_not_found', 'The account has no such device.')
  return { device, isNew: outcome === 'created' }
}
