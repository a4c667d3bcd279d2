import { findPasswordHolder } from '@wagate/db/queries/accounts/accounts'
import { z } from 'zod'
import { email } from '../accounts/email.ts'
import { expiresIn, linkMs, sendRequestedMail } from '../accounts/mail-link.ts'
import { requireAccounts } from '../accounts/sign-up-mode.ts'
import { definePublicOperation } from '../calls/operation.ts'
import { newPassword } from '../mail/mails.ts'

export const forgotPassword = definePublicOperation({
  name: 'forgot-password',
  summary: 'Send a mail with a link for a new password, if an account has the email address',
  changes: true,
  parameters: z.object({ email: email.describe('Email address of the account') }),
  fields: z.object({ email: z.string(), expires_in: expiresIn }),
  errors: ['sign_up_closed'],
  example: { given: { email: 'shop@example.com' }, answer: { email: 'shop@example.com', expires_in: 3600 } },
  async handle({ email }, call) {
    requireAccounts(call.context)
    await sendRequestedMail(call, { to: email, purpose: 'new-password' }, async ({ makeLink }) => {
      const account = await findPasswordHolder(call.context.db, { email })
      if (!account) return undefined
      const link = { purpose: 'new-password' as const, email, accountId: account.id }
      return newPassword(email, await makeLink('reset-password', link))
    })
    return { email, expires_in: linkMs['new-password'] / 1000 }
  },
})
