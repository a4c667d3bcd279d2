import { z } from 'zod'
import {
  flag,
  key32,
  keys32,
  mailAddress,
  nameServers,
  origin,
  proxies,
  randomKey32,
  url,
  wholeNumber,
  words,
} from './setting-types.ts'
import { whatsAppNetworks } from './whatsapp-network.ts'

/** Every environment variable of the system, in one place. `.env.example` lists the same (a test compares). */
export const settings = {
  DATABASE_URL: url('postgres:', 'postgresql:'),
  REDIS_URL: url('redis:', 'rediss:'),
  /** Encrypts WhatsApp credentials and Signal keys at rest. */
  MASTER_KEY: randomKey32,
  /** For decryption only, beside MASTER_KEY. */
  MASTER_KEYS_OTHER: keys32.optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),

  HOST: z.string().default('0.0.0.0'),
  PORT: wholeNumber(0, 65_535).default(3000),
  /** Where /metrics, and the health of a worker, listen. 0 is any free port, which the process logs. */
  METRICS_HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: wholeNumber(0, 65_535).default(0),
  TRUST_PROXY: proxies.default(0),
  /** The origin under which people reach the API, for links in its answers. */
  PUBLIC_URL: origin.optional(),
  ALLOW_QUERY_API_KEY: flag.default(true),

  /** Who gets an account with an email address and a password. `open` on the simulated network if mails can be sent. */
  SIGN_UP: z.enum(['off', 'invite', 'open'], { error: 'must be off, invite or open' }).optional(),
  /** The server that takes our mails, with user name and password if it wants them. */
  SMTP_URL: url('smtp:', 'smtps:')
    .refine(
      (value) => /^smtps?:\/\/([^/?#@]*@)?[^/?#@]+\/?$/i.test(value),
      'must have no path and no query, and a password in it must be percent-encoded',
    )
    .optional(),
  /** `no-reply@example.com`, or with a name: `Example <no-reply@example.com>`. */
  MAIL_FROM: mailAddress.optional(),
  /** Of accounts that people make themselves, and the days until they expire; 0 is never. */
  DEFAULT_DEVICES_ALLOWED: wholeNumber(0, 100_000).default(1),
  DEFAULT_ACCOUNT_DAYS: wholeNumber(0, 36_500).default(0),
  /** Mails that one client network causes. 0 is unlimited, as below. */
  LIMIT_MAILS_PER_HOUR: wholeNumber(0, 1_000_000).default(20),
  /** Passwords that one client network tries. */
  LIMIT_SIGN_INS_PER_MINUTE: wholeNumber(0, 1_000_000).default(20),
  /**
   * Of bodies of send-media that one API process holds at a time. One account has less than half of it, apart from one
   * body that may finish.
   */
  BODY_MEMORY_BYTES: wholeNumber(48 * 2 ** 20, 1e11).default(128 * 2 ** 20),
  /** Of clients to one API process; further ones are closed at once. */
  CONNECTIONS_MAX: wholeNumber(1, 1_000_000).default(4000),
  /** While there is no ADMIN the API creates this one at start. */
  BOOTSTRAP_ADMIN_EMAIL: z.email('must be an email address').optional(),
  /** Where its key is written, readable for this user only. Without it the key is printed if there is a terminal. */
  BOOTSTRAP_KEY_FILE: z.string().min(1).optional(),

  /** Limits of the API; 0 is unlimited. Requests count for each key. */
  LIMIT_REQUESTS_PER_SECOND: wholeNumber(0, 1_000_000).default(50),
  LIMIT_REQUESTS_BURST: wholeNumber(1, 1_000_000).default(100),
  /** Of all keys of an account together. */
  LIMIT_ACCOUNT_REQUESTS_PER_SECOND: wholeNumber(0, 1_000_000).default(200),
  LIMIT_ACCOUNT_REQUESTS_BURST: wholeNumber(1, 1_000_000).default(400),
  /** Keys that are not valid, for each client address. */
  LIMIT_FAILED_KEYS_PER_MINUTE: wholeNumber(0, 1_000_000).default(20),
  /** create-user, for each ADMIN. */
  LIMIT_NEW_USERS_PER_MINUTE: wholeNumber(0, 1_000_000).default(10),
  /** generate-qr, for each device. */
  LIMIT_QR_CODES_PER_MINUTE: wholeNumber(0, 1_000_000).default(6),
  /** generate-qr, for each account, over all devices. */
  LIMIT_ACCOUNT_QR_CODES_PER_MINUTE: wholeNumber(0, 1_000_000).default(30),
  /** pair-code, for each account; its one-time links count apart. Each one notifies a phone, which may be a stranger's. */
  LIMIT_ACCOUNT_PAIR_CODES_PER_DAY: wholeNumber(0, 1_000_000).default(100),
  /** Changes that the audit log records, for each account. */
  LIMIT_ACCOUNT_CHANGES_PER_DAY: wholeNumber(0, 1_000_000_000).default(50_000),

  /** Fixed at installation; every process checks it at start. */
  SHARDS: wholeNumber(1, 4096).default(256),

  WORKER_NAME: z.string().min(1).max(128).optional(),
  /** Linked devices that one worker carries at most. */
  WORKER_CAPACITY: wholeNumber(1, 100_000).default(500),
  LEASE_TTL_MS: wholeNumber(500, 600_000).default(6000),
  HEARTBEAT_MS: wholeNumber(50, 60_000).default(1000),
  OUTBOX_POLL_MS: wholeNumber(50, 600_000).default(5000),

  /** `simulator` refuses to speak to anything but a loopback or private address. */
  WHATSAPP_NETWORK: z.enum(whatsAppNetworks).default('live'),
  /** Where people find the simulated phones and the mails, for the pages of the API. Not used on the live network. */
  SIMULATOR_URL: origin.default('http://127.0.0.1:8789'),
  WHATSAPP_SOCKET_URL: url('ws:', 'wss:').optional(),
  WHATSAPP_ROOT_KEY: key32.optional(),
  WHATSAPP_MEDIA_HOST: z
    .string()
    .regex(/^[^\s/]+:\d+$/, 'must be host:port')
    .optional(),
  /**
   * The version of WhatsApp Web that a sender logs in as. `auto` reads it from WhatsApp and is the default on the live
   * network, `bundled` is the one that Baileys names.
   */
  WHATSAPP_VERSION: z
    .string()
    .regex(
      /^(auto|bundled|\d{1,9}\.\d{1,9}\.\d{1,15})$/,
      'must be auto, bundled or a version such as 2.3000.1043857760',
    )
    .optional(),
  KEEPALIVE_MS: wholeNumber(1000, 60_000).default(10_000),
  /** QR codes that one worker shows at a time, and of those the ones of one account. */
  PAIRINGS_MAX: wholeNumber(1, 10_000).default(50),
  PAIRINGS_PER_ACCOUNT_MAX: wholeNumber(1, 10_000).default(10),
  /** For a person to use the passkey that WhatsApp asks for while a device is linked. WhatsApp allows about as long. */
  PASSKEY_ASSERTION_MS: wholeNumber(1000, 600_000).default(600_000),
  /** For the phone to link the device after that, unless it asks its person to compare the codes. */
  PASSKEY_LINK_MS: wholeNumber(1000, 60_000).default(10_000),
  /** To compare the codes. */
  PASSKEY_CONFIRMATION_MS: wholeNumber(1000, 300_000).default(300_000),
  PAIRING_MS: wholeNumber(10_000, 600_000).default(120_000),
  STATUS_GRACE_MS: wholeNumber(0, 3_600_000).default(60_000),

  SEND_ACK_TIMEOUT_MS: wholeNumber(1000, 300_000).default(20_000),
  /** Per sender, approximately. Further messages are refused with 429. */
  QUEUED_MESSAGES_MAX: wholeNumber(1, 100_000_000).default(100_000),
  /** Bytes of data: URLs that wait for one account, scheduled ones included; beyond it they are refused with 429. */
  MEDIA_WAITING_BYTES_MAX: wholeNumber(2 ** 20, 1e15).default(2 ** 30),
  MESSAGE_TTL_MS: wholeNumber(60_000, 30 * 86_400_000).default(72 * 3_600_000),
  /** For how long the file of a message is asked for again when its host does not give it. */
  MEDIA_RETRY_MS: wholeNumber(0, 86_400_000).default(600_000),
  /** Per sender; 0 is unlimited. */
  SEND_RATE_PER_MINUTE: wholeNumber(0, 1_000_000).default(60),
  SEND_BURST: wholeNumber(1, 1_000_000).default(20),
  /** Per sender and day of UTC; 0 is unlimited. */
  SEND_DAILY_CAP: wholeNumber(0, 1_000_000_000).default(0),
  /** Between two messages of a sender to one recipient; 0 is none. */
  SEND_RECIPIENT_INTERVAL_MS: wholeNumber(0, 3_600_000).default(2000),
  /** To how many new contacts a sender may write in a day of UTC; 0 is unlimited. */
  NEW_CONTACTS_PER_DAY: wholeNumber(0, 1_000_000).default(10),
  /** In how many days after its first link a sender reaches that number; 0 is at once. */
  NEW_CONTACTS_WARM_UP_DAYS: wholeNumber(0, 365).default(5),
  /** How long a sender writes to no new contacts after WhatsApp refused one. */
  RESTRICTION_PAUSE_MS: wholeNumber(1000, 30 * 86_400_000).default(3_600_000),
  /** Whether messages to contacts that gave no privacy token carry a `cstoken`. */
  FIRST_MESSAGE_TOKENS: flag.default(true),

  /** A contact that writes nothing but one of these words opts out of messages of the account, or in again. */
  OPT_OUT_WORDS: words.optional(),
  OPT_IN_WORDS: words.optional(),

  MEDIA_IMAGE_BYTES_MAX: wholeNumber(1, 1e9).default(16 * 2 ** 20),
  MEDIA_AUDIO_BYTES_MAX: wholeNumber(1, 1e9).default(64 * 2 ** 20),
  MEDIA_VIDEO_BYTES_MAX: wholeNumber(1, 1e9).default(64 * 2 ** 20),
  MEDIA_DOCUMENT_BYTES_MAX: wholeNumber(1, 1e9).default(100 * 2 ** 20),
  /** Media bytes that one worker keeps in its temporary folder, often a tmpfs, at a time. */
  MEDIA_MEMORY_BYTES: wholeNumber(2 ** 20, 1e11).default(256 * 2 ** 20),
  /** Development only: lets media URLs point to this machine and private networks. */
  ALLOW_PRIVATE_MEDIA_HOSTS: flag.default(false),

  /** Whether messages that the account writes, edits, deletes and reads on its phone are recorded. */
  PHONE_ACTIVITY: flag.default(true),
  /** Whether workers download the files of received messages. */
  RECEIVED_MEDIA: flag.default(true),
  /** How long they are kept. */
  RECEIVED_MEDIA_RETENTION_DAYS: wholeNumber(1, 36_500).default(30),
  /** Beyond it, the files of further messages of the account are not downloaded. */
  RECEIVED_MEDIA_ACCOUNT_BYTES_MAX: wholeNumber(2 ** 20, 1e15).default(10 * 2 ** 30),
  /** How long a file of upload-media can be used in sends, 24 hours to 30 days. */
  UPLOADED_MEDIA_HOURS: wholeNumber(24, 720).default(168),
  /** Of an account, of files that have not expired. */
  UPLOADED_MEDIA_ACCOUNT_BYTES_MAX: wholeNumber(2 ** 20, 1e15).default(2 ** 31),
  UPLOADED_MEDIA_ACCOUNT_FILES_MAX: wholeNumber(1, 1_000_000).default(1000),
  /** Where received and uploaded files are kept. */
  MEDIA_STORE: z.enum(['folder', 's3'], { error: 'must be folder or s3' }).default('folder'),
  /** Workers and API processes must see the same folder. */
  MEDIA_FOLDER: z.string().min(1).default('media'),
  S3_ENDPOINT: url('http:', 'https:').optional(),
  S3_REGION: z.string().min(1).default('us-east-1'),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]+$/, 'must be the name of a bucket')
    .optional(),
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  /** The bucket is in the path of its URLs instead of the host, as most services other than AWS want it. */
  S3_FORCE_PATH_STYLE: flag.default(false),

  /** For host names that callers choose. Without them, those of /etc/resolv.conf. */
  DNS_SERVERS: nameServers.optional(),
  /** Lets proxies of senders be on this machine and in private networks. */
  ALLOW_PRIVATE_PROXY_HOSTS: flag.default(false),
  /** Lets targets of webhooks be on this machine and in private networks. */
  ALLOW_PRIVATE_WEBHOOK_HOSTS: flag.default(false),
  /** Whether set-webhook takes URLs with http. By default on the simulator only. Stored ones are delivered to anyway. */
  ALLOW_HTTP_WEBHOOKS: flag.optional(),
  /** Of a worker; false when `wagate dispatcher` delivers the webhooks. */
  WEBHOOK_DISPATCH: flag.default(true),

  RETENTION_DAYS: wholeNumber(1, 36_500).default(365),
  EVENT_RETENTION_DAYS: wholeNumber(1, 365).default(7),
  /** How long the secrets are kept with which the author of a message encrypts an edit. 0: not at all. */
  EDIT_SECRET_DAYS: wholeNumber(0, 90).default(3),
  /** Until an account that is to be deleted is deleted. Meanwhile an ADMIN can cancel it. */
  ACCOUNT_DELETION_DAYS: wholeNumber(0, 365).default(7),
  /** Of a worker; false when `wagate housekeeping` runs beside it, under the role that owns the tables. */
  HOUSEKEEPING: flag.default(true),
}

/** The settings that a process reads. Invalid values of others do not keep it from starting. */
export function pickSettings<Name extends keyof typeof settings>(
  ...names: Name[]
): Pick<typeof settings, Name> {
  return Object.fromEntries(names.map((name) => [name, settings[name]])) as Pick<typeof settings, Name>
}
