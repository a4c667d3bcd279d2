import { isDeepStrictEqual } from 'node:util'
import { findAccountInfo, updateAccount } from '@wagate/db/queries/accounts/accounts'
import { cancelAccountDeletion } from '@wagate/db/queries/retention/account-deletions'
import { z } from 'zod'
import { accountDeleting, lastAdmin } from '../accounts/account-errors.ts'
import { userNotFound } from '../accounts/key-owner.ts'
import { notifyDispatchers, notifyOwners } from '../accounts/notify-workers.ts'
import { defineOperation } from '../calls/operation.ts'
import { audit, namesOf } from '../changes/audit.ts'
import { pacingParameters, toPacing } from '../objects/pacing-fields.ts'
import { exampleUser, role, toUserObject, userObject } from '../objects/user-object.ts'
import { sentenceOfUnion } from '../parameters/issue-sentences.ts'
import { flag, integer, moment, recordId } from '../parameters/parameter-types.ts'
import { isAnyGiven, requireAny } from '../parameters/require-any.ts'

export const updateUser = defineOperation({
  name: 'update-user',
  summary: 'Change the role, device limit, expiry or pacing of an account, disable or enable it',
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
        error: (issue) => `${sentenceOfUnion(issue)}, or never`,
      })
      .optional()
      .describe('Time from which the account is read-only; `never` removes the expiry'),
    disabled: flag
      .optional()
      .describe(
        '`true` disconnects its senders and refuses its keys, links and tokens. `false` enables the account again, and cancels a deletion that has not begun',
      ),
    ...pacingParameters('the gateway'),
  }),
  fields: userObject,
  errors: ['missing_parameter', 'user_not_found', 'last_admin', 'account_deleting'],
  example: {
    given: { user_id: exampleUser.user_id, devices_allowed: 5 },
    answer: { ...exampleUser, devices_allowed: 5 },
  },
  async handle({ user_id, role, devices_allowed, expiry, disabled, ...given }, call) {
    const others = { role, devices_allowed, expiry, disabled }
    requireAny({ ...others, ...given })
    const pacing = toPacing(given)
    const changes = {
      role,
      devicesAllowed: devices_allowed,
      expiresAt: expiry,
      isDisabled: disabled,
      ...pacing,
    }
    const { db, config, notify } = call.context
    const account = await db.transaction(async (tx) => {
      const before = await findAccountInfo(tx, user_id)
      const updated = await updateAccount(tx, user_id, changes)
      if (!updated) throw userNotFound()
      if (updated === 'last_admin') throw lastAdmin()
      if (disabled === false && (await cancelAccountDeletion(tx, user_id)) === 'under_way') {
        throw accountDeleting()
      }
      if (isDeepStrictEqual(updated, before)) return updated
      const detail = { parameters: namesOf({ ...others, ...given }) }
      await audit(tx, call, { target: `account:${user_id}`, result: 'changed', detail })
      return updated
    })
    await notify.accountChanged(user_id)
    if (isAnyGiven(pacing) || disabled !== undefined) await notifyOwners(call.context, user_id)
    if (disabled !== undefined) await notifyDispatchers(call.context, user_id)
    return toUserObject(account, config)
  },
})
