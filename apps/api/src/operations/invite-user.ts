import { findPasswordHolder } from '@wagate/db/queries/accounts/accounts'
import { z } from 'zod'
import { emailExists } from '../accounts/account-errors.ts'
import { email } from '../accounts/email.ts'
import { expiresIn, linkMs, sendMail } from '../accounts/mail-link.ts'
import { requireAccounts } from '../accounts/sign-up-mode.ts'
import { defineOperation } from '../calls/operation.ts'
import { audit, namesOf } from '../changes/audit.ts'
import { invitation } from '../mail/mails.ts'
import { role } from '../objects/user-object.ts'
import { integer, moment } from '../parameters/parameter-types.ts'

export const inviteUser = defineOperation({
  name: 'invite-user',
  summary: 'Send a mail with a link with which the invited person makes an account',
  methods: ['GET', 'POST'],
  changes: true,
  adminOnly: true,
  parameters: z.object({
    email: email.describe('Email address of the person'),
    role: role.optional().describe('USER (default) or ADMIN'),
    devices_allowed: integer(0, 100_000)
      .optional()
      .describe('Maximum number of devices, DEFAULT_DEVICES_ALLOWED by default'),
    expiry: moment
      .optional()
      .describe('Time from which the account is read-only; by default DEFAULT_ACCOUNT_DAYS after it is made'),
  }),
  fields: z.object({ email: z.string(), expires_in: expiresIn }),
  errors: ['sign_up_closed', 'email_exists'],
  example: {
    given: { email: 'shop@example.com' },
    answer: { email: 'shop@example.com', expires_in: 604_800 },
  },
  async handle({ email, role, devices_allowed, expiry }, call) {
    requireAccounts(call.context)
    const { db } = call.context
    await call.charge({ limit: 'newUsers', key: String(call.principal.accountId) })
    if (await findPasswordHolder(db, { email })) throw emailExists()
    const detail = { parameters: namesOf({ email, role, devices_allowed, expiry }) }
    await db.transaction((tx) => audit(tx, call, { target: 'invitation', result: 'sent', detail }))
    const given = {
      ...(role && { role }),
      ...(devices_allowed !== undefined && { devicesAllowed: devices_allowed }),
      ...(expiry && { accountExpiresAt: expiry }),
    }
    await sendMail(call, { to: email, purpose: 'invitation' }, async ({ makeLink }) =>
      invitation(email, await makeLink('sign-up', { purpose: 'invitation', email, ...given })),
    )
    return { email, expires_in: linkMs.invitation / 1000 }
  },
})
