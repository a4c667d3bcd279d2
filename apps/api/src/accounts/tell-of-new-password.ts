import { findAccountInfo } from '@wagate/db/queries/accounts'
import type { PublicCall } from '../call.ts'
import { passwordChanged } from '../mail/mails.ts'
import { pageUrl } from './mail-link.ts'

/** So that the owner notices a password that somebody else has chosen. */
export function tellOfNewPassword({ context: { db, config, mailer } }: PublicCall, accountId: number): void {
  mailer?.send(async () => {
    const account = await findAccountInfo(db, accountId)
    return account && passwordChanged(account.email, pageUrl(config, 'reset-password'))
  })
}
