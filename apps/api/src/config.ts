import { storeProblems, toStoreConfig } from '@wagate/media-store/store-environment'
import { readEnv, refuseProblems } from '@wagate/runtime/env'
import { pickSettings } from '@wagate/shared/settings'

/** The environment variables that the API reads. */
export const shape = pickSettings(
  'DATABASE_URL',
  'REDIS_URL',
  'LOG_LEVEL',
  'HOST',
  'PORT',
  'METRICS_HOST',
  'METRICS_PORT',
  'TRUST_PROXY',
  'PUBLIC_URL',
  'LIMIT_REQUESTS_PER_SECOND',
  'LIMIT_REQUESTS_BURST',
  'LIMIT_ACCOUNT_REQUESTS_PER_SECOND',
  'LIMIT_ACCOUNT_REQUESTS_BURST',
  'LIMIT_FAILED_KEYS_PER_MINUTE',
  'LIMIT_NEW_USERS_PER_MINUTE',
  'LIMIT_QR_CODES_PER_MINUTE',
  'LIMIT_ACCOUNT_QR_CODES_PER_MINUTE',
  'LIMIT_ACCOUNT_PAIR_CODES_PER_DAY',
  'LIMIT_ACCOUNT_CHANGES_PER_DAY',
  'ALLOW_QUERY_API_KEY',
  'SIGN_UP',
  'SMTP_URL',
  'MAIL_FROM',
  'DEFAULT_DEVICES_ALLOWED',
  'DEFAULT_ACCOUNT_DAYS',
  'LIMIT_MAILS_PER_HOUR',
  'LIMIT_SIGN_INS_PER_MINUTE',
  'BODY_MEMORY_BYTES',
  'CONNECTIONS_MAX',
  'BOOTSTRAP_ADMIN_EMAIL',
  'BOOTSTRAP_KEY_FILE',
  'SHARDS',
  'WHATSAPP_NETWORK',
  'SIMULATOR_URL',
  'MEDIA_STORE',
  'MEDIA_FOLDER',
  'S3_ENDPOINT',
  'S3_REGION',
  'S3_BUCKET',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
  'S3_FORCE_PATH_STYLE',
  'PAIRING_MS',
  'STATUS_GRACE_MS',
  'SEND_RATE_PER_MINUTE',
  'SEND_BURST',
  'SEND_DAILY_CAP',
  'NEW_CONTACTS_PER_DAY',
  'NEW_CONTACTS_WARM_UP_DAYS',
  'QUEUED_MESSAGES_MAX',
  'MEDIA_WAITING_BYTES_MAX',
  'MEDIA_IMAGE_BYTES_MAX',
  'MEDIA_AUDIO_BYTES_MAX',
  'MEDIA_VIDEO_BYTES_MAX',
  'MEDIA_DOCUMENT_BYTES_MAX',
  'ALLOW_PRIVATE_MEDIA_HOSTS',
  'ACCOUNT_DELETION_DAYS',
  'UPLOADED_MEDIA_HOURS',
  'UPLOADED_MEDIA_ACCOUNT_BYTES_MAX',
  'UPLOADED_MEDIA_ACCOUNT_FILES_MAX',
  'ALLOW_PRIVATE_PROXY_HOSTS',
  'ALLOW_PRIVATE_WEBHOOK_HOSTS',
  'ALLOW_HTTP_WEBHOOKS',
)

type Environment = ReturnType<typeof readEnv<typeof shape>>

export type Config = ReturnType<typeof toConfig>

/** Throws one Error that names every invalid variable. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const read = readEnv(shape, env)
  refuseProblems([...storeProblems(read), ...signUpProblems(read)])
  return toConfig(read)
}

/** One line for each variable that sign-up needs and that is missing. */
function signUpProblems(env: Environment): string[] {
  const mode = env.SIGN_UP
  if (mode === undefined || mode === 'off') return []
  const always = ['SMTP_URL'] as const
  const live = ['SMTP_URL', 'MAIL_FROM', 'PUBLIC_URL'] as const
  return (env.WHATSAPP_NETWORK === 'simulator' ? always : live)
    .filter((name) => !env[name])
    .map((name) => `${name}: is required with SIGN_UP=${mode}`)
}

/** The settings of the API, grouped by what they configure. Their meaning is documented in packages/shared/src/settings.ts. */
function toConfig(env: Environment) {
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
