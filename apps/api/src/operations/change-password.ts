import { setPassword } from '@wagate/db/queries/accounts/accounts'
import { deleteMailedLinks } from '@wagate/db/queries/accounts/mailed-links'
import { endSessions } from '@wagate/db/queries/accounts/sessions'
import { z } from 'zod'
import { checkOwnPassword, confirmPassword } from '../accounts/check-password.ts'
import { openSession } from '../accounts/open-session.ts'
import { requireAccounts } from '../accounts/sign-up-mode.ts'
import { tellOfNewPassword } from '../accounts/tell-owner.ts'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { refuseGuessable } from '../credentials/new-password.ts'
import { hashPassword, password } from '../credentials/passwords.ts'

export const changePassword = defineOperation({
  name: 'change-password',
  summary: 'Change the password of the account; ends all sessions and opens a new one for this browser',
  methods: ['POST'],
  changes: true,
  admitsExpired: true,
  parameters: z.object({
    old_password: password.describe('The present password'),
    password: password.describe('The new one, 8 to 128 characters'),
  }),
  fields: z.object({ sessions_ended: z.int().describe('Including that of this request') }),
  errors: ['sign_up_closed', 'wrong_password'],
  example: {
    given: { old_password: 'correct horse battery', password: 'staple correct horse' },
    answer: { sessions_ended: 2 },
  },
  async handle({ old_password, password }, call) {
    requireAccounts(call.context)
    const { accountId, isSession } = call.principal
    const account = await checkOwnPassword(call, old_password)
    await refuseGuessable(password, account.email)
    const passwordHash = await hashPassword(password)
    const { db, notify } = call.context
    const { ended, session } = await db.transaction(async (tx) => {
      await confirmPassword(tx, account)
      await setPassword(tx, accountId, passwordHash)
      await deleteMailedLinks(tx, accountId)
      const ended = await endSessions(tx, accountId)
      const session = isSession ? await openSession(tx, call.request, accountId) : undefined
      await audit(tx, call, { target: `account:${accountId}`, result: 'changed' })
      return { ended, session }
    })
    await notify.accountChanged(accountId)
    if (session) call.cookie().write(session.secret)
    tellOfNewPassword(call.context, accountId)
    return { sessions_ended: ended }
  },
})
