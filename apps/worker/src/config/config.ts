import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { storeProblems, toStoreConfig } from '@wagate/media-store/store-environment'
import { readEnv, refuseProblems } from '@wagate/runtime/env'
import { pickSettings, settings } from '@wagate/shared/settings'
import { readMasterKeys } from './master-keys.ts'

/** Less than Baileys waits for a connection. */
const proxyDeadlineMs = 10_000

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
    'MEDIA_RETRY_MS',
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
    'PHONE_ACTIVITY',
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
    'EDIT_SECRET_DAYS',
    'HOUSEKEEPING',
  ),
  WORKER_NAME: settings.WORKER_NAME.default(hostname),
}

type Environment = ReturnType<typeof readEnv<typeof shape>>

export type Config = ReturnType<typeof toConfig>

/** Throws one error that names every invalid variable. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const read = readEnv(shape, env)
  refuseProblems([
    ...heartbeatProblems(read),
    ...consentProblems(read),
    ...networkProblems(read),
    ...storeProblems(read),
  ])
  return toConfig(read)
}

/** The settings of a worker, grouped by what they configure. Their meaning is documented in packages/shared/src/settings.ts. */
function toConfig(env: Environment) {
  return {
    logLevel: env.LOG_LEVEL,
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    masterKeys: readMasterKeys(env.MASTER_KEY, env.MASTER_KEYS_OTHER),
    /** What every process of one installation must agree on. */
    installation: { shards: env.SHARDS, network: env.WHATSAPP_NETWORK },
    metrics: { host: env.METRICS_HOST, port: env.METRICS_PORT },
    ownership: {
      name: env.WORKER_NAME,
      capacity: env.WORKER_CAPACITY,
      leaseTtlMs: env.LEASE_TTL_MS,
      heartbeatMs: env.HEARTBEAT_MS,
    },
    whatsApp: {
      network: env.WHATSAPP_NETWORK,
      socketUrl: env.WHATSAPP_SOCKET_URL,
      rootKey: env.WHATSAPP_ROOT_KEY,
      mediaHost: env.WHATSAPP_MEDIA_HOST,
      version: env.WHATSAPP_VERSION ?? (env.WHATSAPP_NETWORK === 'live' ? 'auto' : 'bundled'),
      keepAliveMs: env.KEEPALIVE_MS,
      sendsColdTokens: env.FIRST_MESSAGE_TOKENS,
    },
    passkey: {
      assertionMs: env.PASSKEY_ASSERTION_MS,
      linkMs: env.PASSKEY_LINK_MS,
      confirmationMs: env.PASSKEY_CONFIRMATION_MS,
    },
    statusGraceMs: env.STATUS_GRACE_MS,
    pairings: { max: env.PAIRINGS_MAX, perAccountMax: env.PAIRINGS_PER_ACCOUNT_MAX },
    outbox: {
      pollMs: env.OUTBOX_POLL_MS,
      ackTimeoutMs: env.SEND_ACK_TIMEOUT_MS,
      messageTtlMs: env.MESSAGE_TTL_MS,
      mediaRetryMs: env.MEDIA_RETRY_MS,
      recipientIntervalMs: env.SEND_RECIPIENT_INTERVAL_MS,
      restrictionPauseMs: env.RESTRICTION_PAUSE_MS,
    },
    /** Defaults for accounts and devices without their own settings. */
    pacing: {
      ratePerMinute: env.SEND_RATE_PER_MINUTE,
      burst: env.SEND_BURST,
      dailyCap: env.SEND_DAILY_CAP,
      newContactsPerDay: env.NEW_CONTACTS_PER_DAY,
    },
    newContacts: { warmUpDays: env.NEW_CONTACTS_WARM_UP_DAYS },
    consentWords: { optOut: env.OPT_OUT_WORDS ?? [], optIn: env.OPT_IN_WORDS ?? [] },
    media: {
      bytesMax: {
        image: env.MEDIA_IMAGE_BYTES_MAX,
        audio: env.MEDIA_AUDIO_BYTES_MAX,
        video: env.MEDIA_VIDEO_BYTES_MAX,
        document: env.MEDIA_DOCUMENT_BYTES_MAX,
      },
      memoryBytes: env.MEDIA_MEMORY_BYTES,
      allowsPrivateHosts: env.ALLOW_PRIVATE_MEDIA_HOSTS,
    },
    recordsPhoneActivity: env.PHONE_ACTIVITY,
    receivedMedia: {
      isEnabled: env.RECEIVED_MEDIA,
      retentionDays: env.RECEIVED_MEDIA_RETENTION_DAYS,
      accountBytesMax: env.RECEIVED_MEDIA_ACCOUNT_BYTES_MAX,
      store: toStoreConfig(env),
    },
    dnsServers: env.DNS_SERVERS,
    proxies: { allowsPrivateHosts: env.ALLOW_PRIVATE_PROXY_HOSTS, deadlineMs: proxyDeadlineMs },
    webhooks: {
      areDispatchedHere: env.WEBHOOK_DISPATCH,
      allowsPrivateHosts: env.ALLOW_PRIVATE_WEBHOOK_HOSTS,
      publicUrl: env.PUBLIC_URL,
    },
    housekeeping: {
      retentionDays: env.RETENTION_DAYS,
      eventRetentionDays: env.EVENT_RETENTION_DAYS,
      editSecretDays: env.EDIT_SECRET_DAYS,
      isDoneHere: env.HOUSEKEEPING,
    },
  }
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
