import { type EventType, eventTypeNames } from '@wagate/shared/event-types'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { getDevice } from '../devices/device-locator.ts'
import { eventTypeList, integer, list, recordId, text } from '../parameters/parameter-types.ts'

const devicesMax = 50
const devicesMessage = `must be up to ${devicesMax} IDs of devices, separated by commas, or all`

const devices = list(devicesMax, 'integer')

const deviceIdList = z
  .union([z.int(), z.string(), devices.given], { error: devicesMessage })
  .transform((value, issues): number[] | null => {
    if (value === 'all') return null
    const ids = devices.itemsOf(value)
    const known = ids?.flatMap((id) => recordId.safeParse(id).data ?? [])
    if (known && known.length === ids?.length) return [...new Set(known)]
    issues.addIssue({ code: 'custom', message: devicesMessage })
    return z.NEVER
  })

const all = z.literal('all').transform((): EventType[] | null => null)

/** Parameters of the settings that a webhook has. */
export const webhookParameters = {
  name: text(190).optional().describe('Purpose of the webhook'),
  types: z
    .union([all, eventTypeList])
    .optional()
    .describe(
      `Only events of these types, separated by commas, or all, the default: ${eventTypeNames.join(', ')}`,
    ),
  device_ids: deviceIdList
    .optional()
    .describe('Only events of these devices, separated by commas, or all, the default'),
  events_max: integer(1, 100)
    .optional()
    .describe('Events in one request, 1 by default. With more, the body is `{"events": […]}`'),
}

/** Throws `device_not_found`. */
export async function checkDevices(call: Call, deviceIds: number[] | null | undefined): Promise<void> {
  await Promise.all((deviceIds ?? []).map((device_id) => getDevice(call, { device_id })))
}
