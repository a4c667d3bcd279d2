import { eventTypeOf } from '@wagate/shared/event-types'
import type { Database } from '../src/client.ts'

/** The types of a device's events in their order, each with the `reason` or `step` if it has one. */
export async function listDeviceEvents(db: Database, deviceId: number): Promise<string[]> {
  const events = await db.$client<{ type: number; said: string | null }[]>`
    SELECT type, coalesce(data->>'reason', data->>'step') AS said FROM events
    WHERE device_id = ${deviceId} AND message_id IS NULL ORDER BY epoch, tx, id`
  return events.map(({ type, said }) =>
    [eventTypeOf(type)?.replace('device.', ''), ...(said === null ? [] : [said])].join(' '),
  )
}
