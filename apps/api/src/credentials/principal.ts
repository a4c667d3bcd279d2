import type { KeyHolder } from '@wagate/db/queries/accounts/api-keys'
import type { LinkHolder } from '@wagate/db/queries/devices/pairing-links'
import type { StreamToken } from '@wagate/db/queries/events/stream-tokens'
import { AppError } from '../errors/app-error.ts'

/**
 * The API key of a request and its account. With `link`, a person acts through a one-time link that the key created, with
 * `streamToken`, a page reads events with a token that the key created.
 */
export type Principal = KeyHolder & { link?: LinkHolder; streamToken?: StreamToken }

export type Credential = 'key' | 'stream-token' | LinkHolder['credential']

/** Throws `account_expired`. */
export function refuseExpired({ accountExpiresAt }: Principal): void {
  if (accountExpiresAt && accountExpiresAt.getTime() <= Date.now()) {
    const since = accountExpiresAt.toISOString()
    throw new AppError(
      'account_expired',
      `The account has expired on ${since} and is read-only. An ADMIN of the gateway can extend it with update-user.`,
    )
  }
}
