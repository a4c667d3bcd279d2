import { storeProblems } from '@wagate/media-store/store-environment'
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

export type Environment = ReturnType<typeof readEnv<typeof shape>>

/** Throws one Error that names every invalid variable. */
export function readEnvironment(env: Record<string, string | undefined>): Environment {
  const read = readEnv(shape, env)
  refuseProblems([...storeProblems(read), ...signUpProblems(read)])
  return read
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
