import type { OutboxScope } from './outbox-scope.ts'

/**
 * Messages that were read ahead may be for new contacts: while those are paused, they stay in the database. A message that
 * is being handled is not taken back here, but those behind it for the same recipient are. It is taken back before it would
 * be sent (delivery.ts).
 */
export function followFirstContacts(outbox: OutboxScope): void {
  const { acknowledged, pump, waiting, work } = outbox
  if (outbox.areNewContactsPaused()) {
    for (const message of waiting.list()) {
      if (acknowledged.has(message)) continue
      if (!work.isFor(message)) waiting.requeue(message)
      // A contact that only counts towards the budget is a new one for WhatsApp.
      else if (outbox.device.firstContacts.areActive()) message.isToContact = false
    }
  }
  waiting.mayHaveMore()
  pump()
}
