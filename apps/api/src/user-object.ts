import type { AccountInfo } from '@wagate/db/queries/accounts'
import { roles } from '@wagate/shared/statuses'
import { z } from 'zod'
import { integer } from './parameters/parameter-types.ts'

/** Ids are Postgres integers. */
export const userId = integer(1, 2 ** 31 - 1)

export const role = z
  .string({ error: `must be one of ${roles.join(', ')}` })
  .transform((value) => value.toUpperCase())
  .pipe(z.enum(roles, { error: `must be one of ${roles.join(', ')}` }))

export const userFields = {
  user_id: z.int(),
  email: z.string(),
  role: z.enum(roles),
  devices_used: z.int(),
  devices_allowed: z.int(),
  expiry: z.iso.datetime().nullable().describe('null is never'),
  created_at: z.iso.datetime(),
}

export function toUserObject(account: AccountInfo): z.infer<z.ZodObject<typeof userFields>> {
  return {
    user_id: account.id,
    email: account.email,
    role: account.role,
    devices_used: account.devicesUsed,
    devices_allowed: account.devicesAllowed,
    expiry: account.expiresAt?.toISOString() ?? null,
    created_at: account.createdAt.toISOString(),
  }
}
