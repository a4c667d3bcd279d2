import { findPasswordHolder } from '@wagate/db/queries/accounts/accounts'
import { z } from 'zod'
import { email } from '../accounts/email.ts'
import { expiresIn, linkMs, sendRequestedMail } from '../accounts/mail-link.ts'
import { requireOpenSignUp } from '../accounts/sign-up-mode.ts'
import { definePublicOperation } from '../calls/operation.ts'
import { alreadyHasAccount, confirmSignUp } from '../mail/mails.ts'

export const signUp = definePublicOperation({
  name: 'sign-up',
  summary: 'Send a mail with a link with which a person makes an account',
  changes: true,
  parameters: z.object({
    email: email.describe('Email address of the person. The password is chosen with the link'),
  }),
  fields: z.object({
    email: z.string(),
    expires_in: expiresIn,
  }),
  errors: ['sign_up_closed'],
  example: {
    given: { email: 'shop@example.com' },
    answer: { email: 'shop@example.com', expires_in: 86_400 },
  },
  async handle({ email }, call) {
    requireOpenSignUp(call.context)
    await sendRequestedMail(call, { to: email, purpose: 'sign-up' }, async ({ makeLink, urlOf }) => {
      const account = await findPasswordHolder(call.context.db, { email })
      if (account) return alreadyHasAccount(email, urlOf('sign-in'), urlOf('reset-password'))
      return confirmSignUp(email, await makeLink('sign-up', { purpose: 'sign-up', email }))
    })
    return { email, expires_in: linkMs['sign-up'] / 1000 }
  },
})
