import { isDeepStrictEqual } from 'node:util'
import type { DeviceState } from '@wagate/db/queries/device-owner-view'
import { findSentToday } from '@wagate/db/queries/sent-today'
import { type Pacing, pacingOf } from '@wagate/shared/pacing'
import type { DeviceContext } from '../context.ts'
import { makePacer, type Pacer } from '../outbox/pacer.ts'
import { makeRecipientPace, type RecipientPace } from '../outbox/recipient-pace.ts'
import type { OutcomeFeed } from '../session/outcome-feed.ts'

export type DevicePacing = {
  /** False when the settings have changed since they were applied. */
  isApplied(state: DeviceState): boolean
  /** Returns the device's one pace: it outlives a connection, or each reconnect would allow a new burst. */
  apply(state: DeviceState): Promise<DevicePace>
}

type DevicePace = { pacer: Pacer; recipientPace: RecipientPace }

export function makeDevicePacing(
  { config, db }: Pick<DeviceContext, 'config' | 'db'>,
  deviceId: number,
  outcomes: Pick<OutcomeFeed, 'subscribe'>,
): DevicePacing {
  let pace: DevicePace | undefined
  let applied: Pacing | undefined

  // Whether a refusal is final, only the outbox knows.
  outcomes.subscribe((waId, { kind }) => {
    if (kind !== 'refused') pace?.pacer.confirm(waId)
  })

  async function openPace(pacing: Pacing): Promise<DevicePace> {
    const { recipientIntervalMs } = config.outbox
    // Also without a cap: if one is set while messages are in flight, they must be counted.
    const sent = await findSentToday(db, deviceId, recipientIntervalMs)
    return {
      pacer: makePacer(pacing, sent),
      recipientPace: makeRecipientPace(recipientIntervalMs, sent.lately),
    }
  }

  return {
    isApplied: (state) => isDeepStrictEqual(applied, pacingOf(state, config.pacing)),
    async apply(state) {
      const pacing = pacingOf(state, config.pacing)
      if (pace) pace.pacer.set(pacing)
      else pace = await openPace(pacing)
      applied = pacing
      return pace
    },
  }
}
