import type { DeviceEvents } from '@wagate/queue/device-events'
import type { DeviceEvent } from '@wagate/shared/device-events'
import type { AppError } from '../errors/app-error.ts'
import { makeInbox } from './inbox.ts'
import { pollUntil } from './poll-until.ts'

type WaitingCall = {
  context: { events: { devices: Pick<DeviceEvents, 'subscribe'> }; closing: AbortSignal }
  deadline: { signal: AbortSignal }
}

type DeviceWait<Found> = {
  /** True for an event after which it is worth polling at once. */
  isRelevant(event: DeviceEvent): boolean
  find(): Promise<Found | undefined>
  forMs: number
  /** Ends the wait early. */
  abort?: AbortSignal
  /** Runs once subscribed, so that no event that it causes is missed. */
  begin?(): Promise<void>
  /** The error to throw when Redis is down. Without it, only the polls remain. */
  withoutRedis?(cause: unknown): AppError
}

/** Polls on events of a device and every second. Undefined when the time or the request's deadline is over. */
export async function waitForDevice<Found>(
  { context: { events, closing }, deadline }: WaitingCall,
  deviceId: number,
  { isRelevant, find, forMs, begin, withoutRedis, abort = closing }: DeviceWait<Found>,
): Promise<Found | undefined> {
  const inbox = makeInbox<DeviceEvent>()
  const unsubscribe = await events.devices
    .subscribe(deviceId, (event) => {
      if (isRelevant(event)) inbox.put(event)
    })
    .catch((error: unknown) => {
      if (withoutRedis) throw withoutRedis(error)
      return undefined
    })
  try {
    await begin?.()
    return await pollUntil(find, { inbox, forMs, abort: AbortSignal.any([closing, deadline.signal, abort]) })
  } finally {
    await unsubscribe?.()
  }
}
