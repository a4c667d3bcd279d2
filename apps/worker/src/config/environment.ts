import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { storeProblems } from '@wagate/media-store/store-environment'
import { readEnv, refuseProblems } from '@wagate/runtime/env'
import { pickSettings, settings } from '@wagate/shared/settings'

export const shape = {
  ...pickSettings(
    'DATABASE_URL',
    'REDIS_URL',
    'MASTER_KEY',
    'MASTER_KEYS_OTHER',
    'LOG_LEVEL',
    'METRICS_HOST',
    'METRICS_PORT',
    'SHARDS',
    'WORKER_CAPACITY',
    'LEASE_TTL_MS',
    'HEARTBEAT_MS',
    'OUTBOX_POLL_MS',
    'WHATSAPP_NETWORK',
    'WHATSAPP_SOCKET_URL',
    'WHATSAPP_ROOT_KEY',
    'WHATSAPP_MEDIA_HOST',
    'WHATSAPP_VERSION',
    'KEEPALIVE_MS',
    'PAIRINGS_MAX',
    'PAIRINGS_PER_ACCOUNT_MAX',
    'STATUS_GRACE_MS',
    'SEND_ACK_TIMEOUT_MS',
    'MESSAGE_TTL_MS',
    'SEND_RATE_PER_MINUTE',
    'SEND_BURST',
    'SEND_DAILY_CAP',
    'NEW_CONTACTS_PER_DAY',
    'NEW_CONTACTS_WARM_UP_DAYS',
    'SEND_RECIPIENT_INTERVAL_MS',
    'RESTRICTION_PAUSE_MS',
    'FIRST_MESSAGE_TOKENS',
    'OPT_OUT_WORDS',
    'OPT_IN_WORDS',
    'PASSKEY_ASSERTION_MS',
    'PASSKEY_LINK_MS',
    'PASSKEY_CONFIRMATION_MS',
    'MEDIA_IMAGE_BYTES_MAX',
    'MEDIA_AUDIO_BYTES_MAX',
    'MEDIA_VIDEO_BYTES_MAX',
    'MEDIA_DOCUMENT_BYTES_MAX',
    'MEDIA_MEMORY_BYTES',
    'ALLOW_PRIVATE_MEDIA_HOSTS',
    'RECEIVED_MEDIA',
    'RECEIVED_MEDIA_RETENTION_DAYS',
    'RECEIVED_MEDIA_ACCOUNT_BYTES_MAX',
    'MEDIA_STORE',
    'MEDIA_FOLDER',
    'S3_ENDPOINT',
    'S3_REGION',
    'S3_BUCKET',
    'S3_ACCESS_KEY_ID',
    'S3_SECRET_ACCESS_KEY',
    'S3_FORCE_PATH_STYLE',
    'DNS_SERVERS',
    'ALLOW_PRIVATE_PROXY_HOSTS',
    'ALLOW_PRIVATE_WEBHOOK_HOSTS',
    'PUBLIC_URL',
    'WEBHOOK_DISPATCH',
    'RETENTION_DAYS',
    'EVENT_RETENTION_DAYS',
    'HOUSEKEEPING',
  ),
  WORKER_NAME: settings.WORKER_NAME.default(hostname),
}

export type Environment = ReturnType<typeof readEnv<typeof shape>>

/** Throws one error that names every invalid variable. */
export function readEnvironment(env: Record<string, string | undefined>): Environment {
  const read = readEnv(shape, env)
  refuseProblems([
    ...heartbeatProblems(read),
    ...consentProblems(read),
    ...networkProblems(read),
    ...storeProblems(read),
  ])
  return read
}

/** Even if one heartbeat fails, the lease is renewed in time. */
function heartbeatProblems({ HEARTBEAT_MS, LEASE_TTL_MS }: Environment): string[] {
  return HEARTBEAT_MS < LEASE_TTL_MS / 2 ? [] : ['HEARTBEAT_MS: must be less than half of LEASE_TTL_MS']
}

function consentProblems({ OPT_OUT_WORDS = [], OPT_IN_WORDS = [] }: Environment): string[] {
  const isAmbiguous = OPT_IN_WORDS.some((word) => OPT_OUT_WORDS.includes(word))
  return isAmbiguous ? ['OPT_IN_WORDS: must have no word of OPT_OUT_WORDS'] : []
}

/**
 * The simulator's addresses come with its own trust anchor: a live worker that accepted them would send real credentials
 * to the host in the address.
 */
function networkProblems(environment: Environment): string[] {
  const { WHATSAPP_NETWORK, WHATSAPP_SOCKET_URL, WHATSAPP_ROOT_KEY, WHATSAPP_MEDIA_HOST } = environment
  const given = { WHATSAPP_SOCKET_URL, WHATSAPP_ROOT_KEY, WHATSAPP_MEDIA_HOST }
  if (WHATSAPP_NETWORK === 'live') {
    const named = Object.entries(given).filter(([, value]) => value !== undefined)
    return named.map(([name]) => `${name}: only with WHATSAPP_NETWORK=simulator`)
  }
  const missing = Object.entries(given).filter(([, value]) => value === undefined)
  const hosts = [
    ['WHATSAPP_SOCKET_URL', WHATSAPP_SOCKET_URL],
    ['WHATSAPP_MEDIA_HOST', WHATSAPP_MEDIA_HOST && `http://${WHATSAPP_MEDIA_HOST}`],
  ] as const
  return [
    ...missing.map(([name]) => `${name}: is required with WHATSAPP_NETWORK=simulator`),
    ...hosts.flatMap(([name, url]) =>
      url && !isPrivateHost(new URL(url).hostname) ? [`${name}: must be a loopback or private address`] : [],
    ),
  ]
}

/** Addresses, and names that only a local network resolves (the service name of a container has no dot). */
function isPrivateHost(host: string): boolean {
  if (isIP(host.replace(/^\[|\]$/g, ''))) {
    return /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\]|\[f[cd])/.test(host)
  }
  return !host.includes('.') || host.endsWith('.localhost')
}
