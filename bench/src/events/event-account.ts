import type { Account } from '../with-admin-account.ts'

/** An account with linked senders, in whose name events are caused. */
export type EventAccount = Account & { senders: string[] }
