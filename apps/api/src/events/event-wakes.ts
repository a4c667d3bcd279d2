import type { EventHints } from '@wagate/queue/event-hints'
import { type Inbox, makeInbox } from './inbox.ts'

export type EventWakes = {
  /** An inbox for the notices that the account may have new events. */
  join(accountId: number): { inbox: Inbox<true>; leave(): void }
}

/** An event becomes readable once all transactions of the server that began earlier have ended. */
export const untilReadableMs = [10, 30, 100, 250] as const

export function makeEventWakes({ onEvents }: Pick<EventHints, 'onEvents'>): EventWakes {
  const inboxes = new Map<number, Set<Inbox<true>>>()
  onEvents((accountId) => {
    for (const inbox of inboxes.get(accountId) ?? []) inbox.put(true)
  })
  return {
    join(accountId) {
      const inbox = makeInbox<true>()
      const ofAccount = inboxes.get(accountId) ?? new Set()
      inboxes.set(accountId, ofAccount.add(inbox))
      return {
        inbox,
        leave() {
          ofAccount.delete(inbox)
          if (ofAccount.size === 0 && inboxes.get(accountId) === ofAccount) inboxes.delete(accountId)
        },
      }
    },
  }
}
