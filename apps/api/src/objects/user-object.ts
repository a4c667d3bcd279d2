import type { AccountInfo } from '@wagate/db/queries/accounts/accounts'
import { roles } from '@wagate/shared/statuses'
import { z } from 'zod'
import type { Config } from '../config.ts'

import { notOneOf } from '../parameters/issue-sentences.ts'
import { pacingFields, toPacingFields } from './pacing-fields.ts'

export const role = z
  .string({ error: `must be one of ${roles.join(', ')}` })
  .transform((value) => value.toUpperCase())
  .pipe(z.enum(roles, { error: ({ input }) => notOneOf(input, roles) }))

const userFields = {
  user_id: z.int(),
  email: z.string(),
  role: z.enum(roles),
  devices_used: z.int(),
  devices_allowed: z.int(),
  expiry: z.iso.datetime().nullable().describe('Time from which the account is read-only; null means never'),
  disabled_at: z.iso
    .datetime()
    .nullable()
    .describe('Time since which the account is disabled; null if it is not'),
  ...pacingFields,
  created_at: z.iso.datetime(),
}

export const userObject = z.object(userFields).meta({ id: 'User' })

type UserObject = z.infer<typeof userObject>

export const exampleUser: UserObject = {
  user_id: 12,
  email: 'shop@example.com',
  role: 'USER',
  devices_used: 1,
  devices_allowed: 3,
  expiry: null,
  disabled_at: null,
  rate_per_minute: 60,
  burst: 20,
  daily_cap: 0,
  new_contacts_per_day: 10,
  created_at: '2026-01-31T11:50:00.000Z',
}

export function toUserObject(account: AccountInfo, { pacing }: Pick<Config, 'pacing'>): UserObject {
  return {
    user_id: account.id,
    email: account.email,
    role: account.role,
    devices_used: account.devicesUsed,
    devices_allowed: account.devicesAllowed,
    expiry: account.expiresAt?.toISOString() ?? null,
    disabled_at: account.disabledAt?.toISOString() ?? null,
    ...toPacingFields(account, pacing),
    created_at: account.createdAt.toISOString(),
  }
}
