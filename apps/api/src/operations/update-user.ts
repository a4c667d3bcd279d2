import { updateAccount } from '@wagate/db/queries/accounts'
import { listLinkedDeviceIds } from '@wagate/db/queries/devices'
import { z } from 'zod'
import { audit } from '../changes/idempotent-change.ts'
import type { ApiContext } from '../context.ts'
import { userNotFound } from '../credentials/key-owner.ts'
import { AppError } from '../errors/app-error.ts'
import { paceParameters } from '../objects/pacing-fields.ts'
import { exampleUser, role, toUserObject, userId, userObject } from '../objects/user-object.ts'
import { defineOperation } from '../operation.ts'
import { integer, moment } from '../parameters/parameter-types.ts'
import { isAnyGiven, requireAny } from '../parameters/require-any.ts'

/** Commands of one request: more would hold up those of sends. */
const toldMax = 1000

export const updateUser = defineOperation({
  name: 'update-user',
  summary: 'Change role, devices or expiry of an account, or how fast its senders send',
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
    ...paceParameters('the gateway'),
  }),
  fields: userObject,
  errors: ['missing_parameter', 'user_not_found', 'last_admin'],
  example: {
    given: { user_id: exampleUser.user_id, devices_allowed: 5 },
    answer: { ...exampleUser, devices_allowed: 5 },
  },
  async handle({ user_id, role, devices_allowed, expiry, rate_per_minute, burst, daily_cap }, call) {
    requireAny({ role, devices_allowed, expiry, rate_per_minute, burst, daily_cap })
    const pace = { ratePerMinute: rate_per_minute, burst, dailyCap: daily_cap }
    const changes = { role, devicesAllowed: devices_allowed, expiresAt: expiry, ...pace }
    const { db, config, accountChanged } = call.context
    const account = await db.transaction(async (tx) => {
      const updated = await updateAccount(tx, user_id, changes)
      if (!updated) throw userNotFound()
      if (updated === 'last_admin') {
        throw new AppError('last_admin', 'Nobody would be left who is an ADMIN.')
      }
      await audit(tx, call, { target: `account:${user_id}`, result: 'changed' })
      return updated
    })
    await accountChanged(user_id)
    if (isAnyGiven(pace)) await applyPace(call.context, user_id)
    return toUserObject(account, config)
  },
})

/** Owners of the senders that are not told see it at their next look, some seconds later. */
async function applyPace({ db, command }: ApiContext, accountId: number): Promise<void> {
  const ids = await listLinkedDeviceIds(db, accountId, toldMax)
  for (const deviceId of ids) command({ kind: 'apply-settings', deviceId })
}
