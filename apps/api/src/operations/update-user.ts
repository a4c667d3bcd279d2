import { updateAccount } from '@wagate/db/queries/accounts'
import { AppError } from '@wagate/shared/app-error'
import { z } from 'zod'
import { audit } from '../change.ts'
import { userNotFound } from '../credentials/key-owner.ts'
import { defineOperation } from '../operation.ts'
import { integer, moment } from '../parameters/parameter-types.ts'
import { exampleUser, role, toUserObject, userId, userObject } from '../user-object.ts'

export const updateUser = defineOperation({
  name: 'update-user',
  summary: 'Change role, devices or expiry of an account',
  methods: ['GET', 'POST'],
  changes: true,
  adminOnly: true,
  parameters: z.object({
    user_id: userId.describe('As users lists it'),
    role: role.optional().describe('USER or ADMIN'),
    devices_allowed: integer(0, 100_000)
      .optional()
      .describe('Devices that the account may have; those beyond stay, and no more can be added'),
    expiry: z
      .union([z.literal('never').transform(() => null), moment], {
        error: 'must be never or a time such as 2030-01-31T12:00:00Z',
      })
      .optional()
      .describe('From when on the account can only read; never lifts it'),
  }),
  fields: userObject,
  errors: ['missing_parameter', 'user_not_found', 'last_admin'],
  example: {
    given: { user_id: exampleUser.user_id, devices_allowed: 5 },
    answer: { ...exampleUser, devices_allowed: 5 },
  },
  async handle({ user_id, role, devices_allowed, expiry }, call) {
    if (role === undefined && devices_allowed === undefined && expiry === undefined) throw nothingGiven()
    const { db, accountChanged } = call.context
    const account = await db.transaction(async (tx) => {
      const updated = await updateAccount(tx, user_id, {
        ...(role !== undefined && { role }),
        ...(devices_allowed !== undefined && { devicesAllowed: devices_allowed }),
        ...(expiry !== undefined && { expiresAt: expiry }),
      })
      if (!updated) throw userNotFound()
      if (updated === 'last_admin') {
        throw new AppError('last_admin', 'Nobody would be left who is an ADMIN.')
      }
      await audit(tx, call, { target: `account:${user_id}`, result: 'changed' })
      return updated
    })
    await accountChanged(user_id)
    return toUserObject(account)
  },
})

function nothingGiven(): AppError {
  const names = ['role', 'devices_allowed', 'expiry']
  return new AppError('missing_parameter', `Give at least one of ${names.join(', ')}.`, {
    details: names.map((parameter) => ({ parameter, message: 'or another one is missing' })),
  })
}
