/** What each limit counts. `limit` of a `rate_limited` answer and the RateLimit headers have its name. */
export const limitGuide = {
  default: 'Requests with one API key: `LIMIT_REQUESTS_PER_SECOND`, `LIMIT_REQUESTS_BURST`',
  account:
    'Requests with all API keys of an account: `LIMIT_ACCOUNT_REQUESTS_PER_SECOND`, `LIMIT_ACCOUNT_REQUESTS_BURST`',
  'failed-keys': 'Invalid keys, links and tokens of a client network: `LIMIT_FAILED_KEYS_PER_MINUTE`',
  link: 'Requests with one one-time link and its session: 60 a minute',
  'stream-token': 'Requests with one stream token: 60 a minute',
  'media-link': 'Requests with one link to a received file: 60 a minute',
  'account-links':
    'Requests with all links and stream tokens of an account: as many as `account`, counted apart',
  'account-changes':
    'Changes of an account that the audit log records, `revoke-key` apart: `LIMIT_ACCOUNT_CHANGES_PER_DAY`',
  'account-exports': 'Exports of an account in progress at an API process: 1',
  'create-user': '`create-user` of an ADMIN: `LIMIT_NEW_USERS_PER_MINUTE`',
  mails: 'Mails that a client network causes in an hour: `LIMIT_MAILS_PER_HOUR`',
  'mails-to-address': 'Mails of one kind to one address: 5 an hour',
  'mails-to-mailbox':
    'Mails of one kind to all addresses that differ only by dots or by what follows a +, to sign up or for a new address of an account: 10 an hour',
  'account-mails': 'Mails to new addresses that an account causes: 20 a day',
  'sign-in': 'Passwords that a client network tries: `LIMIT_SIGN_INS_PER_MINUTE`',
  'sign-in-address': 'Passwords that a client network tries for one address or account: 10 in 15 minutes',
  'sign-in-account':
    'Passwords that anybody tries for one address or account, apart from right ones from a network of an earlier sign-in: 100 a day',
  'password-checks': 'Passwords that wait to be hashed or compared in an API process: 200',
  'create-link': '`create-link` of an account: `LIMIT_ACCOUNT_QR_CODES_PER_MINUTE`',
  'create-stream-token': '`create-stream-token` of an account: 100 a minute',
  'generate-qr':
    '`generate-qr`, unless it returns a QR code again, and `pair-code` for one sender: `LIMIT_QR_CODES_PER_MINUTE`',
  'account-generate-qr':
    '`generate-qr`, unless it returns a QR code again, and `pair-code` for all senders of an account: `LIMIT_ACCOUNT_QR_CODES_PER_MINUTE`',
  'account-pair-code':
    '`pair-code` of an account in a day, unless the sender is linked already or it returns a code again; one-time links count apart: `LIMIT_ACCOUNT_PAIR_CODES_PER_DAY`',
  'link-generate-qr':
    '`generate-qr` of one one-time link, unless it returns a QR code again: `LIMIT_QR_CODES_PER_MINUTE`',
  'link-pair-code':
    '`pair-code` of one one-time link, unless the sender is linked already or it returns a code again: 5 in ten minutes',
  'restart-session': '`restart-session` of one sender: `LIMIT_QR_CODES_PER_MINUTE`',
  'replay-webhook': '`replay-webhook` of an account with `from` or `failed`: 5 a minute',
  'replay-event': '`replay-webhook` of an account with `event_id`: 20 a minute',
  'test-webhook': '`test-webhook` of an account: 20 a minute',
  pairings:
    'Senders of an account, or of a worker, that wait to be linked: `PAIRINGS_PER_ACCOUNT_MAX`, `PAIRINGS_MAX`',
  whatsapp: "WhatsApp's own limit of pairing codes for one number",
  'event-streams': 'Open event streams of an account, or of an API process: 250, 2,000',
  'message-pages': 'Concurrent requests of an account for `messages`',
  'file-uploads':
    "Bytes of an account's `upload-media` in progress: the size of the largest file that may be sent",
  'media-downloads': 'Concurrent downloads of received files of an account, or of an API process: 16, 256',
} as const

export type LimitName = keyof typeof limitGuide

/** What a token of each bucket stands for, and who has the bucket, for the sentence of a refusal. */
export const bucketGuide = {
  default: ['requests', 'for one API key'],
  account: ['requests', 'for all API keys of the account'],
  'failed-keys': ['invalid keys, links and tokens', 'for one client network'],
  link: ['requests', 'for one one-time link'],
  'stream-token': ['requests', 'for one stream token'],
  'media-link': ['requests', 'for one link to a received file'],
  'account-links': ['requests', 'for all links and stream tokens of the account'],
  'account-changes': ['changes', 'of one account'],
  'create-user': ['new accounts', 'for one ADMIN'],
  mails: ['mails', 'for one client network'],
  'mails-to-address': ['mails', 'to one address'],
  'mails-to-mailbox': ['mails', 'to one mailbox'],
  'account-mails': ['mails to new addresses', 'for one account'],
  'sign-in': ['passwords', 'for one client network'],
  'sign-in-address': ['passwords', 'for one address or account, from one client network'],
  'sign-in-account': ['passwords', 'for one address or account'],
  'create-link': ['one-time links', 'for one account'],
  'create-stream-token': ['stream tokens', 'for one account'],
  'generate-qr': ['QR codes and pairing codes', 'for one sender'],
  'account-generate-qr': ['QR codes and pairing codes', 'for all senders of the account'],
  'account-pair-code': ['pairing codes', 'for one account'],
  'link-generate-qr': ['QR codes', 'for one one-time link'],
  'link-pair-code': ['pairing codes', 'for one one-time link'],
  'restart-session': ['restarts', 'for one sender'],
  'replay-webhook': ['replays of a time range or of failed requests', 'for one account'],
  'replay-event': ['replays of single events', 'for one account'],
  'test-webhook': ['tests of webhooks', 'for one account'],
} as const satisfies Partial<Record<LimitName, readonly [what: string, forWhom: string]>>

export type BucketName = keyof typeof bucketGuide
