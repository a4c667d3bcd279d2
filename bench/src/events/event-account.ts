import type { Database } from '@wagate/db/client'

/** An account with linked senders, in whose name events are caused. */
export type EventAccount = { db: Database; accountId: number; senders: string[] }
