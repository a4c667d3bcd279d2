import type { Database } from '@wagate/db/client'
import {
  type DeviceWait,
  listDeviceWaits,
  listMessageWaits,
  type MessageWait,
} from '@wagate/db/queries/messages/message-waits'
import { newContactsAllowed, startOfUtcDay, utcDayOf } from '@wagate/shared/new-contacts'
import type { Wait } from '@wagate/shared/objects/waiting-fields'
import type { Config } from '../config.ts'

type Listed = { id: string; deviceId: number; status: string }
type Defaults = Pick<Config, 'pacing' | 'newContacts'>

const waitingStatuses = ['scheduled', 'queued', 'sending']

/**
 * What the messages that wait are waiting for, by id. Without such messages it asks Postgres nothing, otherwise two things,
 * whatever the number of messages.
 */
export async function findWaits(
  db: Database,
  accountId: number,
  messages: Listed[],
  defaults: Defaults,
): Promise<Map<string, Wait>> {
  const waiting = messages.filter(({ status }) => waitingStatuses.includes(status))
  if (waiting.length === 0) return new Map()
  const deviceIds = [...new Set(waiting.map(({ deviceId }) => deviceId))]
  const devices = await listDeviceWaits(db, accountId, deviceIds, defaults.pacing)
  const nowMs = Date.now()
  const restricted = devices.filter(({ restrictedUntilMs }) => restrictedUntilMs !== null)
  const usedUp = devices.filter((device) => !restricted.includes(device) && isUsedUp(device, defaults, nowMs))
  const idsOf = (some: DeviceWait[]) => some.map(({ id }) => id)
  const asked = { restricted: idsOf(restricted), usedUp: idsOf(usedUp) }
  const ids = waiting.map(({ id }) => id)
  const found = await listMessageWaits(db, accountId, ids, asked)
  const deviceOf = new Map(devices.map((device) => [device.id, device]))
  return new Map(found.map((message) => [message.id, waitOf(message, deviceOf.get(message.deviceId), nowMs)]))
}

function isUsedUp(device: DeviceWait, { pacing, newContacts }: Defaults, nowMs: number): boolean {
  const perDay = device.newContactsPerDay ?? pacing.newContactsPerDay
  const budget = { perDay, warmUpDays: newContacts.warmUpDays, warmUpDay: device.warmUpDay }
  return device.newContactsUsed >= newContactsAllowed(budget, utcDayOf(nowMs))
}

/** In the order of `waitingReasons`. What only the owner of the sender knows is its pace. */
export function waitOf(message: MessageWait, device: DeviceWait | undefined, nowMs: number): Wait {
  const tomorrow = startOfUtcDay(utcDayOf(nowMs) + 1)
  if (message.isScheduled) return { reason: 'scheduled', until: dateOf(message.sendAtMs) }
  if (device?.isPaused && !message.isHeld) return { reason: 'paused', until: dateOf(device.pausedUntilMs) }
  if (!device?.isConnected) {
    const loginAfterMs = device?.loginAfterMs ?? 0
    return { reason: 'sender_disconnected', until: dateOf(loginAfterMs > nowMs ? loginAfterMs : null) }
  }
  if (message.isNewContact) {
    const until = dateOf(device.restrictedUntilMs)
    return until ? { reason: 'restriction', until } : { reason: 'new_contacts', until: tomorrow }
  }
  if (message.isBehind) return { reason: 'earlier_message', until: null }
  const retryAt = dateOf(message.retryAtMs)
  const isPreparing = message.status === 'queued' && message.hasFile
  if (isPreparing && (retryAt || message.isHeld)) return { reason: 'file', until: retryAt }
  if (retryAt) return { reason: 'retry', until: retryAt }
  if (message.status === 'sending') return { reason: 'answer', until: null }
  return device.isCapReached ? { reason: 'daily_cap', until: tomorrow } : { reason: 'pace', until: null }
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}
