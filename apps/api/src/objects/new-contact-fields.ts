import type { Device } from '@wagate/db/queries/devices/devices'
import { newContactsAllowed, startOfUtcDay, utcDayOf } from '@wagate/shared/new-contacts'
import { z } from 'zod'

/** Only with a budget of new contacts. */
export const newContactFields = {
  new_contacts_allowed: z
    .int()
    .optional()
    .describe(
      'New contacts that the sender may write to today, in its warm-up fewer than new_contacts_per_day',
    ),
  new_contacts_used: z
    .int()
    .optional()
    .describe('New contacts that count today. Once all are used, messages to further ones wait'),
  new_contacts_reset_at: z.iso.datetime().optional().describe('Beginning of the next UTC day'),
}

type Stored = Pick<Device, 'warmUpFrom' | 'createdAt' | 'linkGeneration' | 'newContactsUsed'>

type Budget = { perDay: number; warmUpDays: number }

export function newContactFieldsOf(device: Stored, { perDay, warmUpDays }: Budget, nowMs: number) {
  if (perDay === 0) return {}
  const today = utcDayOf(nowMs)
  const { warmUpFrom, createdAt, linkGeneration, newContactsUsed } = device
  const warmUpDay = linkGeneration === 0 ? today : utcDayOf((warmUpFrom ?? createdAt).getTime())
  return {
    new_contacts_allowed: newContactsAllowed({ perDay, warmUpDays, warmUpDay }, today),
    new_contacts_used: newContactsUsed,
    new_contacts_reset_at: startOfUtcDay(today + 1).toISOString(),
  }
}
