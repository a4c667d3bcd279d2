import type { Mail } from '../mail/mailbox.ts'
import type { Network } from '../network/network.ts'
import type { LogEntry, LoginEntry, LookupEntry, UnknownEntry } from '../network/recent-log.ts'
import { type MediaActions, mediaActions } from './media-actions.ts'

/** What the network has seen, the newest last. */
export type RecordActions = MediaActions & {
  log: () => LogEntry[]
  logins: () => LoginEntry[]
  lookups: () => LookupEntry[]
  unknown: () => UnknownEntry[]
  /** What programs have sent to the mail server. */
  mails: () => Mail[]
}

export function recordActions(network: Network): RecordActions {
  return {
    log: () => network.log.entries(),
    logins: () => network.logins.entries(),
    lookups: () => network.lookups.entries(),
    unknown: () => network.unknown.entries(),
    mails: () => network.mails,
    ...mediaActions(network),
  }
}
