import { isDeepStrictEqual } from 'node:util'
import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
import { findSentToday } from '@wagate/db/queries/messages/sent-today'
import type { NewContactBudget } from '@wagate/shared/new-contacts'
import { type Pacing, pacingOf } from '@wagate/shared/pacing'
import { makeContactBudget } from '../outbox/contact-budget.ts'
import type { DevicePace } from '../outbox/outbox-context.ts'
import { makePacer, makeRecipientPace, systemClock } from '../outbox/pacer.ts'
import { laneOfAddress } from '../outbox/recipient-lanes.ts'
import { makeSendPause, type Pause } from '../outbox/send-pause.ts'
import { makePriorityUse } from '../outbox/waiting-queue.ts'
import type { OutcomeFeed } from '../session/sending/outcomes.ts'
import type { DeviceContext } from './device-context.ts'

export type DevicePacing = {
  /** False when the settings have changed since they were applied. */
  isApplied(state: DeviceState): boolean
  /** Returns the device's one pace: it outlives a connection, or each reconnect would allow a new burst. */
  apply(state: DeviceState): Promise<DevicePace>
  /** The device may write to no further new contacts today. */
  isBudgetUsedUp(): boolean
}

type Settings = Pacing & NewContactBudget & Pause & Pick<DeviceState, 'usesPriorities'>

export function makeDevicePacing(
  { config, db, caches }: Pick<DeviceContext, 'config' | 'db' | 'caches'>,
  deviceId: number,
  outcomes: Pick<OutcomeFeed, 'subscribe'>,
): DevicePacing {
  let pace: DevicePace | undefined
  let applied: Settings | undefined

  function settingsOf(state: DeviceState): Settings {
    const pacing = pacingOf(state, config.pacing)
    const { warmUpDays } = config.newContacts
    const { warmUpDay, isPaused, pausedUntilMs, usesPriorities } = state
    const budget = { perDay: pacing.newContactsPerDay, warmUpDays, warmUpDay }
    return { ...pacing, ...budget, isPaused, pausedUntilMs, usesPriorities }
  }

  // Whether a refusal is final, only the outbox knows.
  outcomes.subscribe((waId, { kind }) => {
    if (kind !== 'refused') pace?.pacer.confirm(waId)
  })

  async function openPace(settings: Settings): Promise<DevicePace> {
    const { recipientIntervalMs } = config.outbox
    // Also without a cap: if one is set while messages are in flight, they must be counted.
    const sent = await findSentToday(db, deviceId, recipientIntervalMs)
    const readAtMs = performance.now()
    // The days are those of Postgres: the clocks of workers differ.
    const dateMs = () => sent.nowMs + performance.now() - readAtMs
    const pause = makeSendPause(dateMs)
    pause.set(settings)
    return {
      pause,
      priorityUse: makePriorityUse(),
      pacer: makePacer(settings, sent, { ...systemClock, dateMs }),
      recipientPace: makeRecipientPace(recipientIntervalMs, byLane(sent.lately)),
      contactBudget: makeContactBudget(
        { ...sent, budget: settings },
        caches.countedContactsOf(deviceId),
        dateMs,
      ),
      sendsSinceMs: sent.nowMs,
    }
  }

  return {
    isApplied: (state) => isDeepStrictEqual(applied, settingsOf(state)),
    async apply(state) {
      const settings = settingsOf(state)
      if (pace) {
        pace.pacer.set(settings)
        pace.contactBudget.set(settings)
        pace.pause.set(settings)
      } else pace = await openPace(settings)
      if (settings.usesPriorities) pace.priorityUse.note()
      applied = settings
      return pace
    },
    isBudgetUsedUp: () => pace?.contactBudget.isUsedUp() ?? false,
  }
}

/** `lately`: ms since the latest message, by address. */
function byLane(lately: { [jid: string]: number }): { [lane: string]: number } {
  const lanes: { [lane: string]: number } = {}
  for (const [jid, ms] of Object.entries(lately)) {
    const lane = laneOfAddress(jid)
    lanes[lane] = Math.min(ms, lanes[lane] ?? ms)
  }
  return lanes
}
