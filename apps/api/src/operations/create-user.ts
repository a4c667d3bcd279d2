import { insertAccount } from '@wagate/db/queries/accounts'
import { AppError } from '@wagate/shared/app-error'
import { roles } from '@wagate/shared/statuses'
import { z } from 'zod'
import { makeNewKey } from '../credentials/new-key.ts'
import { defineOperation } from '../operation.ts'
import { integer, moment } from '../parameters/parameter-types.ts'
import { hashPassword, password } from '../passwords.ts'

const email = z
  .string({ error: 'must be an email address' })
  .transform((value) => value.trim().toLowerCase())
  .pipe(z.email('must be an email address').max(254, 'must have up to 254 characters'))

const role = z
  .string({ error: `must be one of ${roles.join(', ')}` })
  .transform((value) => value.toUpperCase())
  .pipe(z.enum(roles, { error: `must be one of ${roles.join(', ')}` }))

export const createUser = defineOperation({
  name: 'create-user',
  summary: 'Create a user account',
  methods: ['GET', 'POST'],
  changes: true,
  adminOnly: true,
  parameters: z.object({
    email: email.describe('The name of the account'),
    password: password.describe('8 to 128 characters'),
    role: role.optional().describe('USER (default) or ADMIN'),
    devices_allowed: integer(0, 100_000)
      .optional()
      .describe('Devices that the account may have, 1 by default'),
    expiry: moment.optional().describe('From when on the account can only read; never by default'),
  }),
  fields: z.object({
    user_id: z.int(),
    api_key: z.string().describe('Shown only now'),
    email: z.string(),
    role: z.enum(roles),
    devices_allowed: z.int(),
    expiry: z.iso.datetime().nullable(),
  }),
  async handle({ email, password, role = 'USER', devices_allowed = 1, expiry }, { context }) {
    const { apiKey, key } = makeNewKey()
    const account = await insertAccount(context.db, {
      email,
      passwordHash: await hashPassword(password),
      role,
      devicesAllowed: devices_allowed,
      expiresAt: expiry ?? null,
      key,
    })
    if (!account) throw new AppError('email_exists', 'There is an account with this email already.')
    return {
      user_id: account.id,
      api_key: apiKey,
      email,
      role,
      devices_allowed,
      expiry: expiry?.toISOString() ?? null,
    }
  },
})
