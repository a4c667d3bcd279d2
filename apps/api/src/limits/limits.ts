import type { RateLimiter, RateLimits } from '@wagate/queue/rate-limits'
import type { Config } from '../config.ts'
import type { BucketName } from './limit-guide.ts'

/** Undefined is unlimited. */
export type Limits = {
  /** By API key. */
  requests: RateLimiter | undefined
  /** By account, which may have many keys. */
  accountRequests: RateLimiter | undefined
  /** By one-time link, of which a person has one open page. */
  linkRequests: RateLimiter | undefined
  /** By token. */
  streamTokenRequests: RateLimiter | undefined
  /** By account and message. */
  mediaLinkRequests: RateLimiter | undefined
  /** By account, over all links and tokens: those who hold them are not the account. */
  accountLinkRequests: RateLimiter | undefined
  /** By account: what is written to its audit log. */
  changes: RateLimiter | undefined
  /** By account. */
  newLinks: RateLimiter | undefined
  /** By account. */
  newStreamTokens: RateLimiter | undefined
  /** By client network. */
  failedKeys: RateLimiter | undefined
  /** By account. */
  newUsers: RateLimiter | undefined
  /** By client network. */
  mails: RateLimiter | undefined
  /** By what they are for, and a hash of the address. */
  addressMails: RateLimiter | undefined
  /** By what they are for, and a hash of the mailbox. */
  mailboxMails: RateLimiter | undefined
  /** By account. */
  accountMails: RateLimiter | undefined
  /** By client network. */
  signIns: RateLimiter | undefined
  /** By client network and a hash of the address. */
  networkPasswords: RateLimiter | undefined
  /** By a hash of the address. */
  passwords: RateLimiter | undefined
  /** By account and sender. */
  qrCodes: RateLimiter | undefined
  /** By one-time link. */
  linkQrCodes: RateLimiter | undefined
  /** By account and sender. */
  restarts: RateLimiter | undefined
  /** By account, over all senders. */
  accountQrCodes: RateLimiter | undefined
  /** By account, and apart from it by the one-time links of the account: each one notifies a phone. */
  pairingCodes: RateLimiter | undefined
  /** By one-time link. */
  linkPairingCodes: RateLimiter | undefined
  /** By account. */
  replays: RateLimiter | undefined
  /** By account. */
  eventReplays: RateLimiter | undefined
  /** By account. */
  webhookTests: RateLimiter | undefined
}

const [minuteSeconds, hourSeconds, daySeconds] = [60, 3600, 86_400]

export function makeLimits({ makeLimiter }: RateLimits, limits: Config['limits']): Limits {
  const per = (windowSeconds: number) => (name: BucketName, quota: number) =>
    quota === 0 ? undefined : makeLimiter({ name, quota, windowSeconds })
  const [perMinute, perDay] = [per(minuteSeconds), per(daySeconds)]
  const perSecond = (name: BucketName, { perSecond, burst }: { perSecond: number; burst: number }) =>
    perSecond === 0 ? undefined : makeLimiter({ name, quota: burst, windowSeconds: burst / perSecond })
  /** Unlimited together with the requests of keys. */
  const perHolder = (name: BucketName) => perMinute(name, limits.requests.perSecond === 0 ? 0 : 60)
  return {
    requests: perSecond('default', limits.requests),
    accountRequests: perSecond('account', limits.accountRequests),
    linkRequests: perHolder('link'),
    streamTokenRequests: perHolder('stream-token'),
    mediaLinkRequests: perHolder('media-link'),
    accountLinkRequests: perSecond('account-links', limits.accountRequests),
    changes: perDay('account-changes', limits.accountChangesPerDay),
    newLinks: perMinute('create-link', limits.accountQrCodesPerMinute),
    newStreamTokens: perMinute('create-stream-token', 100),
    failedKeys: perMinute('failed-keys', limits.failedKeysPerMinute),
    newUsers: perMinute('create-user', limits.newUsersPerMinute),
    mails: per(hourSeconds)('mails', limits.mailsPerHour),
    addressMails: per(hourSeconds)('mails-to-address', limits.mailsPerHour === 0 ? 0 : 5),
    mailboxMails: per(hourSeconds)('mails-to-mailbox', limits.mailsPerHour === 0 ? 0 : 10),
    accountMails: perDay('account-mails', limits.mailsPerHour === 0 ? 0 : 20),
    signIns: perMinute('sign-in', limits.signInsPerMinute),
    networkPasswords: per(15 * minuteSeconds)('sign-in-address', limits.signInsPerMinute === 0 ? 0 : 10),
    passwords: perDay('sign-in-account', limits.signInsPerMinute === 0 ? 0 : 100),
    qrCodes: perMinute('generate-qr', limits.qrCodesPerMinute),
    linkQrCodes: perMinute('link-generate-qr', limits.qrCodesPerMinute),
    restarts: perMinute('restart-session', limits.qrCodesPerMinute),
    accountQrCodes: perMinute('account-generate-qr', limits.accountQrCodesPerMinute),
    pairingCodes: perDay('account-pair-code', limits.accountPairCodesPerDay),
    linkPairingCodes: per(10 * minuteSeconds)('link-pair-code', limits.qrCodesPerMinute === 0 ? 0 : 5),
    replays: perMinute('replay-webhook', 5),
    eventReplays: perMinute('replay-event', 20),
    webhookTests: perMinute('test-webhook', 20),
  }
}
