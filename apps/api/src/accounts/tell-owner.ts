import type { Database } from '@wagate/db/client'
import { findAccountInfo } from '@wagate/db/queries/accounts/accounts'
import type { Config } from '../config.ts'
import type { Mailer } from '../mail/mailer.ts'
import { accountWillBeDeleted, type Mail, passwordChanged } from '../mail/mails.ts'
import { pageUrl } from './mail-link.ts'

type Context = { db: Database; mailer: Mailer | undefined }

/** So that the owner notices a password that somebody else has chosen. */
export function tellOfNewPassword(
  { config, ...context }: Context & { config: Pick<Config, 'http'> },
  accountId: number,
): void {
  const page = pageUrl(config, 'reset-password')
  tellOwner(context, accountId, (email) => passwordChanged(email, page))
}

/** So that the owner notices a deletion that somebody else has asked for, while it can be undone. */
export function tellOfDeletion(context: Context, accountId: number, dueAt: Date): void {
  tellOwner(context, accountId, (email) => accountWillBeDeleted(email, dueAt))
}

function tellOwner({ db, mailer }: Context, accountId: number, mailTo: (email: string) => Mail): void {
  mailer?.send(async () => {
    const account = await findAccountInfo(db, accountId)
    return account && mailTo(account.email)
  })
}
