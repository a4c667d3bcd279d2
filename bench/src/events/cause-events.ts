import { setTimeout as delay } from 'node:timers/promises'
import { acceptMessages, type NewMessage } from '@wagate/db/queries/messages/accept-messages'
import type { EventHints } from '@wagate/queue/event-hints'
import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import type { EventAccount } from './event-account.ts'

const everyMs = 50
const recipients = 200
const dayMs = 86_400_000

/**
 * Accepts messages for tomorrow with the statement of the API, at a steady rate: each is one event. Resolves to their
 * number. Over HTTP, the API and its client would need the processors that deliver.
 */
export async function causeEvents(
  { db, accountId, senders }: EventAccount,
  hints: EventHints,
  { perSecond, ms, signal }: { perSecond: number; ms: number; signal: AbortSignal },
): Promise<number> {
  const startedAt = performance.now()
  let caused = 0

  function nextMessage(): NewMessage {
    const sender = senders[caused % senders.length] ?? ''
    const id = makeMessageId(sender)
    const number = String(15_560_000_000 + (caused % recipients))
    caused += 1
    return {
      id,
      waId: whatsAppIdOf(id),
      accountId,
      sender,
      number,
      type: 'text',
      body: `Message ${caused}`,
      url: null,
      filename: null,
      sendAt: new Date(Date.now() + dayMs).toISOString(),
      media: null,
      idempotency: null,
    }
  }

  for (let passedMs = 0; passedMs < ms; passedMs = performance.now() - startedAt) {
    signal.throwIfAborted()
    const due = Math.floor((passedMs / 1000) * perSecond) - caused
    if (due > 0) {
      const accepted = await acceptMessages(db, Array.from({ length: due }, nextMessage), {
        mediaBytesMax: 0,
      })
      if (accepted.some(({ outcome }) => outcome !== 'accepted')) throw new Error('A message was refused')
      hints.publish(accountId)
    }
    await delay(everyMs)
  }
  return caused
}
