import { isDeepStrictEqual } from 'node:util'
import type { DeviceState } from '@wagate/db/queries/device-owner-view'
import { findSentToday } from '@wagate/db/queries/sent-today'
import { type Pacing, pacingOf } from '@wagate/shared/pacing'
import type { DeviceContext } from '../context.ts'
import { makePacer, type Pacer } from '../outbox/pacer.ts'
import type { OutcomeFeed } from '../session/outcome-feed.ts'

export type DevicePacing = {
  /** False when the settings have changed since they were applied. */
  isApplied(state: DeviceState): boolean
  /** Returns the device's one pacer: it outlives a connection, or each reconnect would allow a new burst. */
  apply(state: DeviceState): Promise<Pacer>
}

export function makeDevicePacing(
  { config, db }: Pick<DeviceContext, 'config' | 'db'>,
  deviceId: number,
  outcomes: Pick<OutcomeFeed, 'subscribe'>,
): DevicePacing {
  let pacer: Pacer | undefined
  let applied: Pacing | undefined

  // Whether a refusal is final, only the outbox knows.
  outcomes.subscribe((waId, { kind }) => {
    if (kind !== 'refused') pacer?.confirm(waId)
  })

  return {
    isApplied: (state) => isDeepStrictEqual(applied, pacingOf(state, config.pacing)),
    async apply(state) {
      const pacing = pacingOf(state, config.pacing)
      if (pacer) pacer.set(pacing)
      // Also without a cap: if one is set while messages are in flight, they must be counted.
      else pacer = makePacer(pacing, await findSentToday(db, deviceId))
      applied = pacing
      return pacer
    },
  }
}
