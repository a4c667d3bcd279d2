import { isDeepStrictEqual } from 'node:util'
import { findAccountInfo, updateAccount } from '@wagate/db/queries/accounts'
import { listLinkedDeviceIds } from '@wagate/db/queries/devices'
import { z } from 'zod'
import { audit, namesOf } from '../changes/audit.ts'
import type { ApiContext } from '../context.ts'
import { userNotFound } from '../credentials/key-owner.ts'
import { AppError } from '../errors/app-error.ts'
import { pacingParameters, toPacing } from '../objects/pacing-fields.ts'
import { exampleUser, role, toUserObject, userObject } from '../objects/user-object.ts'
import { defineOperation } from '../operation.ts'
import { integer, moment, recordId } from '../parameters/parameter-types.ts'
import { isAnyGiven, requireAny } from '../parameters/require-any.ts'

/** Commands per request: more would delay the commands of sends. */
const commandsMax = 1000

export const updateUser = defineOperation({
  name: 'update-user',
  summary: 'Change the role, device limit, expiry or pacing of an account',
  methods: ['GET', 'POST'],
  changes: true,
  adminOnly: true,
  parameters: z.object({
    user_id: recordId.describe('ID from users'),
    role: role.optional().describe('USER or ADMIN'),
    devices_allowed: integer(0, 100_000)
      .optional()
      .describe('Maximum number of devices; devices beyond it are kept, but no more can be added'),
    expiry: z
      .union([z.literal('never').transform(() => null), moment], {
        error: 'must be never or a time such as 2030-01-31T12:00:00Z',
      })
      .optional()
      .describe('Time from which the account is read-only; `never` removes the expiry'),
    ...pacingParameters('the gateway'),
  }),
  fields: userObject,
  errors: ['missing_parameter', 'user_not_found', 'last_admin'],
  example: {
    given: { user_id: exampleUser.user_id, devices_allowed: 5 },
    answer: { ...exampleUser, devices_allowed: 5 },
  },
  async handle({ user_id, role, devices_allowed, expiry, ...given }, call) {
    requireAny({ role, devices_allowed, expiry, ...given })
    const pacing = toPacing(given)
    const changes = { role, devicesAllowed: devices_allowed, expiresAt: expiry, ...pacing }
    const { db, config, accountChanged } = call.context
    const account = await db.transaction(async (tx) => {
      const before = await findAccountInfo(tx, user_id)
      const updated = await updateAccount(tx, user_id, changes)
      if (!updated) throw userNotFound()
      if (updated === 'last_admin') {
        throw new AppError('last_admin', 'This would leave no active ADMIN.')
      }
      if (isDeepStrictEqual(updated, before)) return updated
      const detail = { parameters: namesOf({ role, devices_allowed, expiry, ...given }) }
      await audit(tx, call, { target: `account:${user_id}`, result: 'changed', detail })
      return updated
    })
    await accountChanged(user_id)
    if (isAnyGiven(pacing)) await applyPacing(call.context, user_id)
    return toUserObject(account, config)
  },
})

/** Owners that get no command find the change at their next poll, some seconds later. */
async function applyPacing(
  { db, enqueueCommand }: Pick<ApiContext, 'db' | 'enqueueCommand'>,
  accountId: number,
): Promise<void> {
  const ids = await listLinkedDeviceIds(db, accountId, commandsMax)
  for (const deviceId of ids) enqueueCommand({ kind: 'apply-settings', deviceId })
}
