import type { Database, Transaction } from '@wagate/db/client'
import {
  insertMailedLink,
  type MailedLinkPurpose,
  type NewMailedLink,
} from '@wagate/db/queries/accounts/mailed-links'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { hashApiKey, isOfMail, isWellFormedApiKey, makeApiKey } from '../credentials/api-key.ts'
import { AppError } from '../errors/app-error.ts'
import { clientNetwork } from '../http/client-address.ts'
import type { ChargeLimits } from '../limits/charge.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Mail } from '../mail/mails.ts'
import { emailKey, mailboxKey } from './email.ts'
import { requireAccounts } from './sign-up-mode.ts'

const hourMs = 3_600_000

/** How long a link works. */
export const linkMs = {
  'sign-up': 24 * hourMs,
  invitation: 7 * 24 * hourMs,
  'new-password': hourMs,
  'new-email': hourMs,
}

export const expiresIn = z.int().describe('Seconds until the link in the mail becomes invalid')

/** The parameter with the secret of a link. */
export const mailToken = z
  .string({ error: 'must be text' })
  .max(1000, 'must be the secret from the link of the mail')
  .describe('The part of the link in the mail after #')

/** Throws `mail_link_invalid`. */
export function hashOfMailToken(token: string): Buffer {
  if (!isWellFormedApiKey(token) || !isOfMail(token)) throw mailLinkInvalid()
  return hashApiKey(token)
}

export function mailLinkInvalid(): AppError {
  return new AppError(
    'mail_link_invalid',
    'This link has been used, has expired, or is incomplete. Ask for a new mail.',
  )
}

type MailContext = { db: Database; config: Pick<Config, 'http' | 'signUp'>; mailer: Mailer | undefined }

type MailCall = {
  context: MailContext
  request: { findClientAddress(): string }
  charge: ChargeLimits
}

type Prepare = (tools: MailTools) => Promise<Mail | undefined>

type Recipient = { to: string; purpose: MailedLinkPurpose }

/** A mail that anybody may ask for. Throws `rate_limited`. */
export async function sendRequestedMail(
  call: MailCall,
  recipient: Recipient,
  prepare: Prepare,
): Promise<void> {
  await call.charge({ limit: 'mails', key: clientNetwork(call.request.findClientAddress()) })
  await sendMail(call, recipient, prepare)
}

/**
 * Sends it in the background, so that neither the answer nor its time tells whether there is an account. Throws
 * `rate_limited`.
 */
export async function sendMail(
  call: Pick<MailCall, 'context' | 'charge'>,
  { to, purpose }: Recipient,
  prepare: Prepare,
): Promise<void> {
  const { mailer } = requireAccounts(call.context)
  // Each kind apart, so that nobody keeps the mail for a new password back by asking for others.
  await call.charge({ limit: 'addressMails', key: `${purpose} ${emailKey(to)}` })
  // Only where there need not be an account with this very address.
  if (purpose === 'sign-up' || purpose === 'new-email') {
    await call.charge({ limit: 'mailboxMails', key: `${purpose} ${mailboxKey(to)}` })
  }
  mailer.send(() => prepare(toolsOf(call.context)))
}

type MailTools = {
  /** Stores a link and returns its URL. */
  makeLink(page: string, link: Omit<NewMailedLink, 'hash' | 'forMs'>, tx?: Transaction): Promise<string>
  urlOf(page: string): string
}

function toolsOf({ db, config }: MailContext): MailTools {
  return {
    urlOf: (page) => pageUrl(config, page),
    async makeLink(page, link, tx) {
      const token = makeApiKey('wag_mail_')
      await insertMailedLink(tx ?? db, { ...link, hash: hashApiKey(token), forMs: linkMs[link.purpose] })
      // Browsers never send the fragment, so that no log of a proxy has it.
      return `${pageUrl(config, page)}#${token}`
    },
  }
}

/** Never with the host that a request names, which its sender chooses. */
export function pageUrl({ http: { publicUrl, port } }: Pick<Config, 'http'>, page: string): string {
  return `${publicUrl ?? `http://127.0.0.1:${port}`}/${page}`
}
