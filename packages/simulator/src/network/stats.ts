export type Counters = {
  pairings: number
  logins: number
  refused_logins: number
  conflicts: number
  /** Of any kind, from clients that are logged in. */
  stanzas: number
  messages: number
  duplicates: number
  undecryptable: number
  retries: number
  receipts: number
  uploads: number
  prekey_uploads: number
  /** Key bundles that were fetched, each for one new Signal session. */
  prekey_fetches: number
  /** Look-ups of the devices of a user. */
  device_lookups: number
  /** Requests for the page that names the version of WhatsApp Web. */
  version_lookups: number
  /** Questions whether the account may write to new contacts. */
  new_chat_queries: number
  /** Messages with a token that is wrong, foreign or expired, or with two kinds of them. */
  invalid_tokens: number
  unreadable_media: number
  /** Connections that ended because a message was not acknowledged. */
  missing_acks: number
  failures: number
  /** Stanzas that the simulator does not implement, by kind. Tests normally expect none. */
  unknown: Record<string, number>
}

export function makeCounters(): Counters {
  return {
    pairings: 0,
    logins: 0,
    refused_logins: 0,
    conflicts: 0,
    stanzas: 0,
    messages: 0,
    duplicates: 0,
    undecryptable: 0,
    retries: 0,
    receipts: 0,
    uploads: 0,
    prekey_uploads: 0,
    prekey_fetches: 0,
    device_lookups: 0,
    version_lookups: 0,
    new_chat_queries: 0,
    invalid_tokens: 0,
    unreadable_media: 0,
    missing_acks: 0,
    failures: 0,
    unknown: {},
  }
}
