import type { OutboxScope } from './outbox-scope.ts'

/**
 * Messages that were read ahead may be for new contacts: while those are paused, they stay in the database. A message that
 * is being handled is not taken back, but those behind it for the same recipient are.
 */
export function followFirstContacts(outbox: OutboxScope): void {
  const { acknowledged, pump, waiting, work } = outbox
  if (outbox.areNewContactsPaused()) {
    for (const message of waiting.list()) {
      if (!acknowledged.has(message) && !work.isFor(message)) waiting.putBack(message)
    }
  }
  waiting.mayHaveMore()
  pump()
}
