import { isDeepStrictEqual } from 'node:util'
import type { DeviceState } from '@wagate/db/queries/device-owner-view'
import { findSentToday } from '@wagate/db/queries/sent-today'
import { type Pacing, pacingOf } from '@wagate/shared/pacing'
import type { DeviceContext } from '../context.ts'
import { makePacer, type Pacer } from '../outbox/pacer.ts'

export type DevicePacing = {
  /** False when the settings have changed since they were applied. */
  isAt(state: DeviceState): boolean
  /** Answers with the device's one pacer: it outlives a connection, or each reconnect would allow a new burst. */
  apply(state: DeviceState): Promise<Pacer>
  /** WhatsApp has taken a message of the device. */
  settle(waId: string): void
}

export function makeDevicePacing(
  { config, db }: Pick<DeviceContext, 'config' | 'db'>,
  deviceId: number,
): DevicePacing {
  let pacer: Pacer | undefined
  let applied: Pacing | undefined

  return {
    isAt: (state) => isDeepStrictEqual(applied, pacingOf(state, config)),
    async apply(state) {
      const pacing = pacingOf(state, config)
      if (pacer) pacer.set(pacing)
      // Also without a cap: one that is set while messages are on the wire finds them counted.
      else pacer = makePacer(pacing, await findSentToday(db, deviceId))
      applied = pacing
      return pacer
    },
    settle: (waId) => pacer?.settle(waId),
  }
}
