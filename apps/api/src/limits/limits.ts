import type { RateLimiter, RateLimits } from '@wagate/queue/rate-limits'
import type { Config } from '../config.ts'

/** Undefined is unlimited. */
export type Limits = {
  /** By API key. */
  requests: RateLimiter | undefined
  /** By account, which may have many keys. */
  accountRequests: RateLimiter | undefined
  /** By one-time link, of which a person has one open page. */
  linkRequests: RateLimiter | undefined
  /** By account. */
  newLinks: RateLimiter | undefined
  /** By account. */
  newStreamTokens: RateLimiter | undefined
  /** By client network. */
  failedKeys: RateLimiter | undefined
  /** By account. */
  newUsers: RateLimiter | undefined
  /** By account and sender. */
  qrCodes: RateLimiter | undefined
  /** By account and sender. */
  restarts: RateLimiter | undefined
  /** By account, over all senders. */
  accountQrCodes: RateLimiter | undefined
}

export function makeLimits({ makeLimiter }: RateLimits, limits: Config['limits']): Limits {
  const perSecond = (name: string, { perSecond, burst }: { perSecond: number; burst: number }) =>
    perSecond === 0 ? undefined : makeLimiter({ name, quota: burst, windowSeconds: burst / perSecond })
  const perMinute = (name: string, quota: number) =>
    quota === 0 ? undefined : makeLimiter({ name, quota, windowSeconds: 60 })
  return {
    requests: perSecond('default', limits.requests),
    accountRequests: perSecond('account', limits.accountRequests),
    linkRequests: makeLimiter({ name: 'link', quota: 60, windowSeconds: 60 }),
    newLinks: perMinute('create-link', limits.accountQrCodesPerMinute),
    newStreamTokens: makeLimiter({ name: 'create-stream-token', quota: 100, windowSeconds: 60 }),
    failedKeys: perMinute('failed-keys', limits.failedKeysPerMinute),
    newUsers: perMinute('create-user', limits.newUsersPerMinute),
    qrCodes: perMinute('generate-qr', limits.qrCodesPerMinute),
    restarts: perMinute('restart-session', limits.qrCodesPerMinute),
    accountQrCodes: perMinute('account-generate-qr', limits.accountQrCodesPerMinute),
  }
}
