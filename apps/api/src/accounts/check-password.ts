import type { Database, Transaction } from '@wagate/db/client'
import {
  findPasswordHolderFrom,
  lockPasswordHolder,
  type PasswordHolder,
} from '@wagate/db/queries/accounts/accounts'
import { isPassword } from '../credentials/passwords.ts'
import { AppError } from '../errors/app-error.ts'
import { clientNetwork } from '../http/client-address.ts'
import type { ChargeLimits } from '../limits/charge.ts'
import { emailKey } from './email.ts'

type Guess = {
  context: { db: Database }
  request: { findClientAddress(): string }
  charge: ChargeLimits
}

/** Throws `wrong_password`, after the same time whether there is such an account, or `rate_limited`. */
export async function checkSignIn(call: Guess, email: string, password: string): Promise<PasswordHolder> {
  const account = await findWithPassword(call, { email }, emailKey(email), password)
  if (account) return account
  throw new AppError('wrong_password', 'The email address or the password is wrong.')
}

/**
 * In the transaction of what the password allows: since it was compared, its owner may have chosen another one. Locks the
 * account. Throws `wrong_password`.
 */
export async function confirmPassword(
  tx: Transaction,
  { id, passwordHash }: PasswordHolder,
): Promise<PasswordHolder> {
  const account = await lockPasswordHolder(tx, id)
  if (account?.passwordHash === passwordHash) return account
  throw new AppError('wrong_password', 'The password has been changed meanwhile.')
}

/** The password of the caller's own account, for what a stolen key or an open browser must not do. Throws the same. */
export async function checkOwnPassword(
  call: Guess & { principal: { accountId: number } },
  password: string,
): Promise<PasswordHolder> {
  const id = call.principal.accountId
  const account = await findWithPassword(call, { id }, String(id), password)
  if (account) return account
  throw new AppError('wrong_password', 'The password is wrong.')
}

/**
 * `whose` is what the limits count by. The last limit keeps many networks from guessing together. Outsiders can use it up, so it
 * must not keep the owner out: a right password is accepted from networks of earlier sign-ins. Only a right one, after the
 * comparison, so that no neighbour learns that there is such an account.
 */
async function findWithPassword(
  call: Guess,
  of: { email: string } | { id: number },
  whose: string,
  password: string,
): Promise<PasswordHolder | undefined> {
  const network = clientNetwork(call.request.findClientAddress())
  await call.charge(
    { limit: 'signIns', key: network },
    { limit: 'networkPasswords', key: `${network} ${whose}` },
  )
  const account = await findPasswordHolderFrom(call.context.db, of, network)
  const isRight = await isPassword(password, account?.passwordHash)
  if (isRight && account?.isKnownNetwork) return account
  await call.charge({ limit: 'passwords', key: whose })
  return isRight ? account : undefined
}
