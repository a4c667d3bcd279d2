import { lockPasswordHolder, setPassword } from '@wagate/db/queries/accounts/accounts'
import { deleteMailedLinks, findMailedLink, useMailedLink } from '@wagate/db/queries/accounts/mailed-links'
import { endSessions } from '@wagate/db/queries/accounts/sessions'
import { z } from 'zod'
import { hashOfMailToken, mailLinkInvalid, mailToken } from '../accounts/mail-link.ts'
import { openSessionOfPage } from '../accounts/open-session.ts'
import { requireAccounts } from '../accounts/sign-up-mode.ts'
import { tellOfNewPassword } from '../accounts/tell-owner.ts'
import { definePublicOperation } from '../calls/operation.ts'
import { actingFor, audit } from '../changes/audit.ts'
import { refuseGuessable } from '../credentials/new-password.ts'
import { hashPassword, password } from '../credentials/passwords.ts'

export const resetPassword = definePublicOperation({
  name: 'reset-password',
  summary:
    'Choose a new password with the link of a mail; ends all sessions and opens a new one for a browser, API keys stay',
  changes: true,
  parameters: z.object({ token: mailToken, password: password.describe('8 to 128 characters') }),
  fields: z.object({ account_id: z.int(), email: z.string() }),
  errors: ['sign_up_closed', 'mail_link_invalid'],
  example: {
    given: { token: 'wag_mail_…', password: 'correct horse battery' },
    answer: { account_id: 12, email: 'shop@example.com' },
  },
  async handle({ token, password }, call) {
    requireAccounts(call.context)
    const { db, notify } = call.context
    const hash = hashOfMailToken(token)
    const link = await findMailedLink(db, hash, ['new-password'])
    if (!link || link.accountId === null) throw mailLinkInvalid()
    await refuseGuessable(password, link.email)
    const passwordHash = await hashPassword(password)
    const { accountId, email } = link
    const session = await db.transaction(async (tx) => {
      const account = await lockPasswordHolder(tx, accountId)
      // Whoever reads the mails to a former address must not choose a password.
      if (account?.email !== email) throw mailLinkInvalid()
      if (!(await useMailedLink(tx, hash, ['new-password']))) throw mailLinkInvalid()
      await deleteMailedLinks(tx, accountId)
      await setPassword(tx, accountId, passwordHash)
      await endSessions(tx, accountId)
      await audit(tx, actingFor(call, accountId), { target: `account:${accountId}`, result: 'changed' })
      return account.disabledAt ? undefined : openSessionOfPage(tx, call, accountId)
    })
    await notify.accountChanged(accountId)
    if (session) call.cookie().write(session.secret)
    tellOfNewPassword(call.context, accountId)
    return { account_id: accountId, email }
  },
})
