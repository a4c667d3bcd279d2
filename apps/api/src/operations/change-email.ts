import { findPasswordHolder } from '@wagate/db/queries/accounts/accounts'
import { z } from 'zod'
import { checkOwnPassword, confirmPassword } from '../accounts/check-password.ts'
import { email } from '../accounts/email.ts'
import { expiresIn, linkMs, sendRequestedMail } from '../accounts/mail-link.ts'
import { requireAccounts } from '../accounts/sign-up-mode.ts'
import { defineOperation } from '../calls/operation.ts'
import { password } from '../credentials/passwords.ts'
import { confirmNewEmail, emailTaken } from '../mail/mails.ts'

export const changeEmail = defineOperation({
  name: 'change-email',
  summary: 'Send a mail with a link to a new email address, which the account has once the link is used',
  methods: ['POST'],
  changes: true,
  parameters: z.object({
    email: email.describe('The new email address'),
    password: password.describe('The password of the account'),
  }),
  fields: z.object({ email: z.string(), expires_in: expiresIn }),
  errors: ['sign_up_closed', 'wrong_password'],
  example: {
    given: { email: 'orders@example.com', password: 'correct horse battery' },
    answer: { email: 'orders@example.com', expires_in: 3600 },
  },
  async handle({ email, password }, call) {
    requireAccounts(call.context)
    const { accountId } = call.principal
    const owner = await checkOwnPassword(call, password)
    await call.charge({ limit: 'accountMails', key: String(accountId) })
    await sendRequestedMail(call, { to: email, purpose: 'new-email' }, async ({ makeLink }) => {
      if (await findPasswordHolder(call.context.db, { email })) return emailTaken(email)
      const link = await call.context.db.transaction(async (tx) => {
        await confirmPassword(tx, owner)
        return makeLink('sign-up', { purpose: 'new-email', email, accountId }, tx)
      })
      return confirmNewEmail(email, link)
    })
    return { email, expires_in: linkMs['new-email'] / 1000 }
  },
})
