import type { Config } from '../config.ts'
import { AppError } from '../errors/app-error.ts'
import type { Mailer } from '../mail/mailer.ts'

type Context = { config: Pick<Config, 'signUp'>; mailer: Mailer | undefined }

/** Throws `sign_up_closed` unless people sign in here. */
export function requireAccounts({ config, mailer }: Context): { mailer: Mailer } {
  if (config.signUp.mode !== 'off' && mailer) return { mailer }
  throw new AppError(
    'sign_up_closed',
    'People have no accounts on this gateway. Ask its operator for an API key.',
  )
}

/** Throws `sign_up_closed` unless anybody may make an account. */
export function requireOpenSignUp(context: Context): void {
  requireAccounts(context)
  if (context.config.signUp.mode === 'open') return
  throw new AppError(
    'sign_up_closed',
    'This gateway admits only people whom its operator invites. Ask its operator for an invitation.',
  )
}
