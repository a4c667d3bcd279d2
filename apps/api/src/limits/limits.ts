import type { RateLimiter, RateLimits } from '@wagate/queue/rate-limits'
import type { Config } from '../config.ts'

/** Undefined is unlimited. */
export type Limits = {
  /** By key. */
  requests: RateLimiter | undefined
  /** By account, which may have many keys. */
  accountRequests: RateLimiter | undefined
  /** By client address. */
  failedKeys: RateLimiter | undefined
  /** By account. */
  newUsers: RateLimiter | undefined
  /** By account and sender. */
  qrCodes: RateLimiter | undefined
  /** By account, whatever the sender. */
  accountQrCodes: RateLimiter | undefined
}

export function makeLimits({ makeLimiter }: RateLimits, config: Config): Limits {
  const perSecond = (name: string, rate: number, burst: number) =>
    rate === 0 ? undefined : makeLimiter({ name, quota: burst, windowSeconds: burst / rate })
  const perMinute = (name: string, quota: number) =>
    quota === 0 ? undefined : makeLimiter({ name, quota, windowSeconds: 60 })
  return {
    requests: perSecond('default', config.LIMIT_REQUESTS_PER_SECOND, config.LIMIT_REQUESTS_BURST),
    accountRequests: perSecond(
      'account',
      config.LIMIT_ACCOUNT_REQUESTS_PER_SECOND,
      config.LIMIT_ACCOUNT_REQUESTS_BURST,
    ),
    failedKeys: perMinute('failed-keys', config.LIMIT_FAILED_KEYS_PER_MINUTE),
    newUsers: perMinute('create-user', config.LIMIT_NEW_USERS_PER_MINUTE),
    qrCodes: perMinute('generate-qr', config.LIMIT_QR_CODES_PER_MINUTE),
    accountQrCodes: perMinute('account-generate-qr', config.LIMIT_ACCOUNT_QR_CODES_PER_MINUTE),
  }
}
