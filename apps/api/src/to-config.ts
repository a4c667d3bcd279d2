import { toStoreConfig } from '@wagate/media-store/store-environment'
import type { Environment } from './environment.ts'

/** The settings of the API, grouped by what they configure. Their meaning is documented in packages/shared/src/settings.ts. */
export function toConfig(env: Environment) {
  const bytesMax = {
    image: env.MEDIA_IMAGE_BYTES_MAX,
    audio: env.MEDIA_AUDIO_BYTES_MAX,
    video: env.MEDIA_VIDEO_BYTES_MAX,
    document: env.MEDIA_DOCUMENT_BYTES_MAX,
  }
  return {
    logLevel: env.LOG_LEVEL,
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    /** What every process of one installation must agree on. */
    installation: { shards: env.SHARDS, network: env.WHATSAPP_NETWORK },
    simulatorUrl: env.WHATSAPP_NETWORK === 'simulator' ? env.SIMULATOR_URL : undefined,
    http: {
      host: env.HOST,
      port: env.PORT,
      connectionsMax: env.CONNECTIONS_MAX,
      trustedProxies: env.TRUST_PROXY,
      publicUrl: env.PUBLIC_URL,
      allowsQueryApiKey: env.ALLOW_QUERY_API_KEY,
      bodyMemoryBytes: env.BODY_MEMORY_BYTES,
    },
    signUp: {
      mode: env.SIGN_UP ?? (env.WHATSAPP_NETWORK === 'simulator' && env.SMTP_URL ? 'open' : 'off'),
      devicesAllowed: env.DEFAULT_DEVICES_ALLOWED,
      accountDays: env.DEFAULT_ACCOUNT_DAYS,
    },
    mail: { smtpUrl: env.SMTP_URL, from: env.MAIL_FROM ?? 'wagate <wagate@localhost>' },
    metrics: { host: env.METRICS_HOST, port: env.METRICS_PORT },
    bootstrap: { adminEmail: env.BOOTSTRAP_ADMIN_EMAIL, keyFile: env.BOOTSTRAP_KEY_FILE },
    /** 0 is unlimited. */
    limits: {
      requests: { perSecond: env.LIMIT_REQUESTS_PER_SECOND, burst: env.LIMIT_REQUESTS_BURST },
      accountRequests: {
        perSecond: env.LIMIT_ACCOUNT_REQUESTS_PER_SECOND,
        burst: env.LIMIT_ACCOUNT_REQUESTS_BURST,
      },
      failedKeysPerMinute: env.LIMIT_FAILED_KEYS_PER_MINUTE,
      newUsersPerMinute: env.LIMIT_NEW_USERS_PER_MINUTE,
      qrCodesPerMinute: env.LIMIT_QR_CODES_PER_MINUTE,
      accountQrCodesPerMinute: env.LIMIT_ACCOUNT_QR_CODES_PER_MINUTE,
      accountPairCodesPerDay: env.LIMIT_ACCOUNT_PAIR_CODES_PER_DAY,
      accountChangesPerDay: env.LIMIT_ACCOUNT_CHANGES_PER_DAY,
      mailsPerHour: env.LIMIT_MAILS_PER_HOUR,
      signInsPerMinute: env.LIMIT_SIGN_INS_PER_MINUTE,
    },
    devices: { pairingMs: env.PAIRING_MS, statusGraceMs: env.STATUS_GRACE_MS },
    /** Defaults for accounts and devices without their own settings. */
    pacing: {
      ratePerMinute: env.SEND_RATE_PER_MINUTE,
      burst: env.SEND_BURST,
      dailyCap: env.SEND_DAILY_CAP,
      newContactsPerDay: env.NEW_CONTACTS_PER_DAY,
    },
    newContacts: { warmUpDays: env.NEW_CONTACTS_WARM_UP_DAYS },
    queue: { messagesMax: env.QUEUED_MESSAGES_MAX, mediaBytesMax: env.MEDIA_WAITING_BYTES_MAX },
    media: {
      bytesMax,
      /** Of a file of any type. */
      largestBytesMax: Math.max(...Object.values(bytesMax)),
      allowsPrivateHosts: env.ALLOW_PRIVATE_MEDIA_HOSTS,
      store: toStoreConfig(env),
      uploads: {
        keepHours: env.UPLOADED_MEDIA_HOURS,
        bytesMax: env.UPLOADED_MEDIA_ACCOUNT_BYTES_MAX,
        filesMax: env.UPLOADED_MEDIA_ACCOUNT_FILES_MAX,
      },
    },
    accounts: { deletionDays: env.ACCOUNT_DELETION_DAYS },
    proxies: { allowsPrivateHosts: env.ALLOW_PRIVATE_PROXY_HOSTS },
    webhooks: {
      allowsPrivateHosts: env.ALLOW_PRIVATE_WEBHOOK_HOSTS,
      allowsHttp: env.ALLOW_HTTP_WEBHOOKS ?? env.WHATSAPP_NETWORK === 'simulator',
    },
  }
}
