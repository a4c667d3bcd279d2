import { readEnv } from '@wagate/shared/env'
import { settings } from '@wagate/shared/settings'

const shape = {
  DATABASE_URL: settings.DATABASE_URL,
  REDIS_URL: settings.REDIS_URL,
  LOG_LEVEL: settings.LOG_LEVEL,
  HOST: settings.HOST,
  PORT: settings.PORT,
  TRUST_PROXY: settings.TRUST_PROXY,
  LIMIT_REQUESTS_PER_SECOND: settings.LIMIT_REQUESTS_PER_SECOND,
  LIMIT_REQUESTS_BURST: settings.LIMIT_REQUESTS_BURST,
  LIMIT_FAILED_KEYS_PER_MINUTE: settings.LIMIT_FAILED_KEYS_PER_MINUTE,
  LIMIT_NEW_USERS_PER_MINUTE: settings.LIMIT_NEW_USERS_PER_MINUTE,
  LIMIT_QR_CODES_PER_MINUTE: settings.LIMIT_QR_CODES_PER_MINUTE,
  ALLOW_QUERY_API_KEY: settings.ALLOW_QUERY_API_KEY,
  BOOTSTRAP_ADMIN_EMAIL: settings.BOOTSTRAP_ADMIN_EMAIL,
  SHARDS: settings.SHARDS,
  PAIRING_MS: settings.PAIRING_MS,
  STATUS_GRACE_MS: settings.STATUS_GRACE_MS,
  SEND_RATE_PER_MINUTE: settings.SEND_RATE_PER_MINUTE,
  SEND_BURST: settings.SEND_BURST,
  SEND_DAILY_CAP: settings.SEND_DAILY_CAP,
  QUEUED_MESSAGES_MAX: settings.QUEUED_MESSAGES_MAX,
  MEDIA_IMAGE_BYTES_MAX: settings.MEDIA_IMAGE_BYTES_MAX,
  MEDIA_AUDIO_BYTES_MAX: settings.MEDIA_AUDIO_BYTES_MAX,
  MEDIA_VIDEO_BYTES_MAX: settings.MEDIA_VIDEO_BYTES_MAX,
  MEDIA_DOCUMENT_BYTES_MAX: settings.MEDIA_DOCUMENT_BYTES_MAX,
}

export type Config = ReturnType<typeof readConfig>

export function readConfig(env: Record<string, string | undefined>) {
  return readEnv(shape, env)
}
