import { toStoreConfig } from '@wagate/media-store/store-environment'
import type { Environment } from './environment.ts'
import { readMasterKeys } from './master-keys.ts'

/** Less than Baileys waits for a connection. */
const proxyDeadlineMs = 10_000

/** The settings of a worker, grouped by what they configure. Their meaning is documented in packages/shared/src/settings.ts. */
export function toConfig(env: Environment) {
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
      isDoneHere: env.HOUSEKEEPING,
    },
  }
}
