import type { Database } from '@wagate/db/client'
import { setSenderPause } from '@wagate/db/queries/devices/sender-pause'
import { readClockMs } from '@wagate/db/queries/statements/clock'
import { audit } from '../changes/audit.ts'
import type { Config } from '../config.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import { type DeviceObject, toDeviceObject } from '../objects/device-object.ts'
import { deviceNotFound, getDevice } from './device-locator.ts'

export const pauseDaysMax = 366

type PauseCall = Parameters<typeof getDevice>[0] &
  Parameters<typeof audit>[1] & {
    context: {
      db: Database
      config: Config
      notify: {
        enqueueCommand(command: { kind: 'apply-settings'; deviceId: number }): void
        publishEventHint(accountId: number): void
      }
    }
  }

/** `null` ends the pause. Repeated, it changes nothing, and answers the same. */
export async function applyPause(
  call: PauseCall,
  located: Parameters<typeof getDevice>[1],
  pause: Parameters<typeof setSenderPause>[3],
): Promise<DeviceObject> {
  const { db, notify, config } = call.context
  const { accountId } = call.principal
  const { id } = await getDevice(call, located)
  const aheadMs = pause?.until ? pause.until.getTime() - (await readClockMs(db.$client)) : 1
  if (aheadMs <= 0 || aheadMs > pauseDaysMax * 86_400_000)
    throw invalidParameter('until', `must be in the next ${pauseDaysMax} days`)
  const isChanged = await db.transaction(async (tx) => {
    const isChanged = await setSenderPause(tx, accountId, id, pause)
    if (isChanged === undefined) throw deviceNotFound()
    const result = pause ? (pause.mode === 'hold' ? 'held' : 'refusing') : 'resumed'
    if (isChanged) await audit(tx, call, { target: `device:${id}`, result })
    return isChanged
  })
  if (isChanged) {
    notify.enqueueCommand({ kind: 'apply-settings', deviceId: id })
    notify.publishEventHint(accountId)
  }
  return toDeviceObject(await getDevice(call, { device_id: id }), config)
}
