import { endSessions } from '@wagate/db/queries/accounts/sessions'
import { z } from 'zod'
import { checkSignIn, confirmPassword } from '../accounts/check-password.ts'
import { email } from '../accounts/email.ts'
import { openSession } from '../accounts/open-session.ts'
import { requireAccounts } from '../accounts/sign-up-mode.ts'
import type { PublicCall } from '../calls/call.ts'
import { definePublicOperation } from '../calls/operation.ts'
import { actingFor, audit } from '../changes/audit.ts'
import { accountDisabled, isStillValid } from '../credentials/api-key-cache.ts'
import { password } from '../credentials/passwords.ts'
import type { Principal } from '../credentials/principal.ts'

export const signIn = definePublicOperation({
  name: 'sign-in',
  summary: 'Open a session with email address and password, in a cookie',
  changes: true,
  parameters: z.object({
    email: email.describe('Email address of the account'),
    password: password.describe('Password of the account'),
  }),
  fields: z.object({
    account_id: z.int(),
    email: z.string(),
    session_id: z.int(),
    expires_at: z.iso.datetime().describe('The session ends then, or after a day without a request'),
  }),
  errors: ['sign_up_closed', 'wrong_password', 'account_disabled'],
  example: {
    given: { email: 'shop@example.com', password: 'correct horse battery' },
    answer: {
      account_id: 12,
      email: 'shop@example.com',
      session_id: 41,
      expires_at: '2026-12-13T09:30:00.000Z',
    },
  },
  async handle({ email, password }, call) {
    requireAccounts(call.context)
    const account = await checkSignIn(call, email, password)
    const { db, keys, notify } = call.context
    const former = await findFormerSession(call)
    const session = await db.transaction(async (tx) => {
      const { disabledAt } = await confirmPassword(tx, account)
      if (disabledAt) throw accountDisabled()
      const opened = await openSession(tx, call.request, account.id)
      // Whoever knew the session of this browser must not have the new one.
      if (former) await endSessions(tx, former.accountId, { id: former.keyId })
      await audit(tx, actingFor(call, account.id, opened.id), {
        target: `session:${opened.id}`,
        result: 'opened',
      })
      return opened
    })
    if (former) await notify.accountChanged(former.accountId)
    keys.forget(account.id)
    call.cookie().write(session.secret)
    return {
      account_id: account.id,
      email: account.email,
      session_id: session.id,
      expires_at: session.expiresAt.toISOString(),
    }
  },
})

/** The session that the browser has already, if it is still open. */
async function findFormerSession({ cookie, context }: PublicCall): Promise<Principal | undefined> {
  const secret = cookie().read()
  if (secret === undefined || !(await isStillValid(context.keys, secret))) return undefined
  return context.keys.find(secret)
}
