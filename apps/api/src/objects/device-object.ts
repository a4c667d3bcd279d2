import type { Device } from '@wagate/db/queries/devices/devices'
import { extensibleEnum } from '@wagate/shared/objects/extensible-enum'
import { banCauses, deviceStatuses } from '@wagate/shared/statuses'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { restrictionReasonGuide, statusReasonGuide } from '../errors/device-reasons.ts'
import { newContactFields, newContactFieldsOf } from './new-contact-fields.ts'
import { pacingFields, toPacingFields } from './pacing-fields.ts'
import { restrictionFieldsOf } from './restriction-fields.ts'

export const deviceFields = {
  device_id: z.int(),
  sender: z.string().describe('Digits only'),
  name: z.string(),
  cms_id: z.string().nullable().describe('Value from create-device'),
  cms_ver: z.string().nullable().describe('Value from create-device'),
  status: z.enum(deviceStatuses),
  status_reason: extensibleEnum(Object.keys(statusReasonGuide))
    .optional()
    .describe('Why the device is disconnected, if known'),
  status_detail: z
    .string()
    .optional()
    .describe(
      `Detail of the reason, as WhatsApp gives it: the cause of a temporary ban (${Object.values(banCauses).join(', ')} or another), the violation of a locked account, or the error of a refused login or of a proxy`,
    ),
  login_after: z.iso
    .datetime()
    .optional()
    .describe('The gateway does not log the device in before, because WhatsApp refused it'),
  restricted_until: z.iso
    .datetime()
    .optional()
    .describe('Messages to new contacts wait until then, because WhatsApp restricts the sender'),
  restriction_reason: extensibleEnum(Object.keys(restrictionReasonGuide))
    .optional()
    .describe('Why WhatsApp restricts messages to new contacts'),
  new_chats_used: z
    .int()
    .optional()
    .describe('New contacts in the present cycle, as WhatsApp counts them, if it has said'),
  new_chats_total: z.int().optional().describe('New contacts that WhatsApp allows in the present cycle'),
  sending: extensibleEnum(['active', 'held', 'refusing']).describe(
    '`held`: pause-sender lets its messages wait. `refusing`: it accepts no messages either',
  ),
  sending_until: z.iso.datetime().optional().describe('When the pause ends without `resume-sender`'),
  proxy: z.string().nullable().describe('Proxy of the sender, without user name and password'),
  ...pacingFields,
  ...newContactFields,
  created_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime().nullable().describe('Time of its last login at WhatsApp'),
}

export const deviceObject = z.object(deviceFields).meta({ id: 'Device' })

export type DeviceObject = z.infer<typeof deviceObject>

export const exampleDevice: DeviceObject = {
  device_id: 7,
  sender: '4915112345678',
  name: 'Shop',
  cms_id: 'shop-1',
  cms_ver: '2.0',
  status: 'connected',
  sending: 'active',
  proxy: null,
  rate_per_minute: 60,
  burst: 20,
  daily_cap: 0,
  new_contacts_per_day: 10,
  new_contacts_allowed: 10,
  new_contacts_used: 3,
  new_contacts_reset_at: '2026-02-01T00:00:00.000Z',
  created_at: '2026-01-31T11:58:02.512Z',
  last_seen_at: '2026-01-31T12:00:00.000Z',
}

export function toDeviceObject(
  device: Device,
  { newContacts, pacing }: Pick<Config, 'newContacts' | 'pacing'>,
): DeviceObject {
  const { status, statusReason, statusDetail, loginAfter } = device
  const pace = toPacingFields(device, pacing)
  const isDisconnected = status === 'disconnected'
  return {
    device_id: device.id,
    sender: device.sender,
    name: device.name,
    cms_id: device.cmsId,
    cms_ver: device.cmsVer,
    status,
    ...(isDisconnected && statusReason !== null && { status_reason: statusReason }),
    ...(isDisconnected && statusDetail !== null && { status_detail: statusDetail }),
    ...(isDisconnected && isAhead(loginAfter) && { login_after: loginAfter.toISOString() }),
    ...restrictionFieldsOf(device, Date.now()),
    ...sendingFieldsOf(device),
    proxy: device.proxy,
    ...pace,
    ...newContactFieldsOf(device, { perDay: pace.new_contacts_per_day, ...newContacts }, Date.now()),
    created_at: device.createdAt.toISOString(),
    last_seen_at: device.lastSeenAt?.toISOString() ?? null,
  }
}

function sendingFieldsOf({ pauseMode, pauseUntil }: Device): Pick<DeviceObject, 'sending' | 'sending_until'> {
  const isPaused = pauseMode !== null && (pauseUntil === null || isAhead(pauseUntil))
  if (!isPaused) return { sending: 'active' }
  return {
    sending: pauseMode === 'hold' ? 'held' : 'refusing',
    ...(pauseUntil && { sending_until: pauseUntil.toISOString() }),
  }
}

function isAhead(time: Date | null): time is Date {
  return time !== null && time.getTime() > Date.now()
}
