import { findAccountInfo } from '@wagate/db/queries/accounts/accounts'
import type { PublicCall } from '../call.ts'
import type { Mail } from '../mail/mail.ts'
import { accountWillBeDeleted, passwordChanged } from '../mail/mails.ts'
import { pageUrl } from './mail-link.ts'

/** So that the owner notices a password that somebody else has chosen. */
export function tellOfNewPassword(call: PublicCall, accountId: number): void {
  const page = pageUrl(call.context.config, 'reset-password')
  tellOwner(call, accountId, (email) => passwordChanged(email, page))
}

/** So that the owner notices a deletion that somebody else has asked for, while it can be undone. */
export function tellOfDeletion(call: PublicCall, accountId: number, dueAt: Date): void {
  tellOwner(call, accountId, (email) => accountWillBeDeleted(email, dueAt))
}

function tellOwner(
  { context: { db, mailer } }: PublicCall,
  accountId: number,
  mailTo: (email: string) => Mail,
): void {
  mailer?.send(async () => {
    const account = await findAccountInfo(db, accountId)
    return account && mailTo(account.email)
  })
}
