import { insertAccount, lockPasswordHolder, setEmail } from '@wagate/db/queries/accounts/accounts'
import {
  deleteMailedLinks,
  findMailedLink,
  type MailedLink,
  type MailedLinkPurpose,
  useMailedLink,
} from '@wagate/db/queries/accounts/mailed-links'
import { roles } from '@wagate/shared/statuses'
import { z } from 'zod'
import { emailExists } from '../accounts/account-errors.ts'
import { hashOfMailToken, mailLinkInvalid, mailToken } from '../accounts/mail-link.ts'
import { openSessionOfPage } from '../accounts/open-session.ts'
import { requireAccounts } from '../accounts/sign-up-mode.ts'
import type { PublicCall } from '../calls/call.ts'
import { definePublicOperation } from '../calls/operation.ts'
import { actingFor, audit } from '../changes/audit.ts'
import { makeNewKey } from '../credentials/api-key.ts'
import { refuseGuessable } from '../credentials/new-password.ts'
import { hashPassword, password } from '../credentials/passwords.ts'
import { AppError } from '../errors/app-error.ts'
import { emailChanged } from '../mail/mails.ts'

const purposes: MailedLinkPurpose[] = ['sign-up', 'invitation', 'new-email']

export const confirmEmail = definePublicOperation({
  name: 'confirm-email',
  summary: 'Use the link of a mail: make the account, or give it its new email address',
  changes: true,
  parameters: z.object({
    token: mailToken,
    password: password
      .optional()
      .describe('Of the new account, 8 to 128 characters. Not needed for a new email address'),
  }),
  fields: z.object({
    account_id: z.int(),
    email: z.string(),
    api_key: z.string().optional().describe('Of a new account. Returned only here'),
    role: z.enum(roles).optional().describe('Of a new account, as the following'),
    devices_allowed: z.int().optional(),
    expiry: z.iso.datetime().nullable().optional().describe('null means never'),
  }),
  errors: ['missing_parameter', 'sign_up_closed', 'mail_link_invalid', 'email_exists'],
  example: {
    given: { token: 'wag_mail_…', password: 'correct horse battery' },
    answer: {
      account_id: 12,
      email: 'shop@example.com',
      api_key: 'wag_…',
      role: 'USER',
      devices_allowed: 1,
      expiry: null,
    },
  },
  async handle({ token, password }, call) {
    requireAccounts(call.context)
    const hash = hashOfMailToken(token)
    const link = await findMailedLink(call.context.db, hash, purposes)
    if (!link) throw mailLinkInvalid()
    if (link.accountId !== null) return confirmNewEmail(call, hash, link.accountId)
    if (password === undefined) throw passwordMissing()
    await refuseGuessable(password, link.email)
    return makeAccount(call, hash, await hashPassword(password))
  },
})

async function makeAccount(call: PublicCall, hash: Buffer, passwordHash: string) {
  const { db, config } = call.context
  const { apiKey, key } = makeNewKey()
  const { account, session } = await db.transaction(async (tx) => {
    const link = await useMailedLink(tx, hash, ['sign-up', 'invitation'])
    if (!link) throw mailLinkInvalid()
    const given = givenBy(link, config.signUp)
    const created = await insertAccount(tx, { email: link.email, passwordHash, key, ...given })
    if (!created) throw emailExists()
    await audit(tx, actingFor(call, created.id), { target: `account:${created.id}`, result: 'created' })
    const account = {
      account_id: created.id,
      email: link.email,
      api_key: apiKey,
      role: given.role,
      devices_allowed: given.devicesAllowed,
      expiry: given.expiresAt?.toISOString() ?? null,
    }
    return { account, session: await openSessionOfPage(tx, call, created.id) }
  })
  if (session) call.cookie().write(session.secret)
  return account
}

/** An invitation may give more than the defaults. */
function givenBy(
  link: MailedLink,
  { devicesAllowed, accountDays }: { devicesAllowed: number; accountDays: number },
) {
  const byDefault = accountDays === 0 ? null : new Date(Date.now() + accountDays * 86_400_000)
  return {
    role: link.role ?? ('USER' as const),
    devicesAllowed: link.devicesAllowed ?? devicesAllowed,
    expiresAt: link.purpose === 'invitation' && link.accountExpiresAt ? link.accountExpiresAt : byDefault,
  }
}

async function confirmNewEmail(call: PublicCall, hash: Buffer, accountId: number) {
  const { db, mailer } = call.context
  const changed = await db.transaction(async (tx) => {
    const account = await lockPasswordHolder(tx, accountId)
    const link = await useMailedLink(tx, hash, ['new-email'])
    if (!account || !link) throw mailLinkInvalid()
    if (!(await setEmail(tx, accountId, link.email))) throw emailExists()
    await deleteMailedLinks(tx, accountId)
    await audit(tx, actingFor(call, accountId), { target: `account:${accountId}`, result: 'changed' })
    return { account_id: accountId, email: link.email, former: account.email }
  })
  const { former, ...fields } = changed
  mailer?.send(async () => emailChanged(former))
  return fields
}

function passwordMissing(): AppError {
  return new AppError('missing_parameter', 'password is required: choose one for the new account', {
    details: [{ parameter: 'password', message: 'is required' }],
  })
}
