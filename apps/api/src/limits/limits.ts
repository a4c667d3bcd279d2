import type { RateLimiter, RateLimits } from '@wagate/queue/rate-limits'
import type { Config } from '../config.ts'

/** Undefined is unlimited. */
export type Limits = {
  /** By key. */
  requests: RateLimiter | undefined
  /** By client address. */
  failedKeys: RateLimiter | undefined
  /** By account. */
  newUsers: RateLimiter | undefined
  /** By account and sender. */
  qrCodes: RateLimiter | undefined
}

export function makeLimits({ makeLimiter }: RateLimits, config: Config): Limits {
  const perMinute = (name: string, quota: number) =>
    quota === 0 ? undefined : makeLimiter({ name, quota, windowSeconds: 60 })
  const { LIMIT_REQUESTS_PER_SECOND: perSecond, LIMIT_REQUESTS_BURST: burst } = config
  return {
    requests:
      perSecond === 0
        ? undefined
        : makeLimiter({ name: 'default', quota: burst, windowSeconds: burst / perSecond }),
    failedKeys: perMinute('failed-keys', config.LIMIT_FAILED_KEYS_PER_MINUTE),
    newUsers: perMinute('create-user', config.LIMIT_NEW_USERS_PER_MINUTE),
    qrCodes: perMinute('generate-qr', config.LIMIT_QR_CODES_PER_MINUTE),
  }
}
