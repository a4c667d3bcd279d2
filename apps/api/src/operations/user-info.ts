import { findAccountInfo } from '@wagate/db/queries/accounts/accounts'
import { roles } from '@wagate/shared/statuses'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { AppError } from '../errors/app-error.ts'

export const userInfo = defineOperation({
  name: 'user-info',
  summary: 'Return the account of the API key',
  methods: ['GET', 'POST'],
  changes: false,
  parameters: z.object({}),
  fields: z.object({
    id: z.int(),
    email: z.string(),
    level: z.enum(roles),
    devices_used: z.int(),
    devices_allowed: z.int(),
    expiry: z.iso
      .datetime()
      .nullable()
      .describe('Time from which the account is read-only; null means never'),
  }),
  example: {
    given: {},
    answer: {
      id: 12,
      email: 'shop@example.com',
      level: 'USER',
      devices_used: 1,
      devices_allowed: 3,
      expiry: null,
    },
  },
  async handle(_, { context, principal }) {
    const info = await findAccountInfo(context.db, principal.accountId)
    // The account was deleted after its key was cached.
    if (!info) throw new AppError('invalid_api_key', 'The API key is not valid.')
    return {
      id: info.id,
      email: info.email,
      level: info.role,
      devices_used: info.devicesUsed,
      devices_allowed: info.devicesAllowed,
      expiry: info.expiresAt?.toISOString() ?? null,
    }
  },
})
