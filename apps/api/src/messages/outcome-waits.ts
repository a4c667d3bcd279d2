import type { Database } from '@wagate/db/client'
import { findMessagesProgress, type MessageProgress } from '@wagate/db/queries/messages/message-progress'
import type { DeviceEvents } from '@wagate/queue/device-events'
import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import type { DeviceEvent } from '@wagate/shared/device-events'
import type { MessageStatus } from '@wagate/shared/statuses'
import { type Inbox, makeInbox } from '../events/inbox.ts'
import { untilNextPollMs } from '../events/poll-until.ts'
import type { Deadline } from '../http/deadline.ts'
import { makeOutcomeSubscriptions } from './outcome-subscriptions.ts'

type Outcome = Extract<DeviceEvent, { kind: 'message' }>

/** Shared by all requests that wait for the outcome of a message. */
export type OutcomeWaits = {
  /** To be called before the message is stored. Undefined when the account or the process has too many waits. */
  begin(accountId: number, sender: string, messageId: string): OutcomeWait | undefined
  /** Concurrent requests share one statement. */
  findProgress(accountId: number, messageId: string): Promise<MessageProgress | undefined>
}

export type OutcomeWait = {
  /** What is told about the message. Closed when the process closes. */
  inbox: Inbox<Outcome>
  /**
   * Listens to events of the stored message, which is another one if the request is a replay. Resolves to whether its
   * events were received from the beginning, as far as this process knows.
   */
  listen(message: { messageId: string; deviceId: number }): Promise<boolean>
  end(): void
}

const waitsMax = { process: 2000, account: 200 }
const messagesMax = 500

type MessageOfAccount = { accountId: number; messageId: string }

export function makeOutcomeWaits(
  db: Database,
  { events, closing }: { events: Pick<DeviceEvents, 'subscribe' | 'countLosses'>; closing: AbortSignal },
): OutcomeWaits {
  const slots = makeFairSemaphore(waitsMax.process, { shareMax: waitsMax.account })
  const batch = makeNaturalBatch((messages: MessageOfAccount[]) => findMessagesProgress(db, messages), {
    itemsMax: messagesMax,
  })
  const inboxes = new Map<string, Set<Inbox<Outcome>>>()
  const subscriptions = makeOutcomeSubscriptions(events, (event) => {
    if (event.kind !== 'message') return
    for (const inbox of inboxes.get(event.messageId) ?? []) inbox.put(event)
  })
  closing.addEventListener('abort', () => {
    for (const group of inboxes.values()) for (const inbox of group) inbox.close()
  })

  function add(messageId: string, inbox: Inbox<Outcome>): () => void {
    const group = inboxes.get(messageId) ?? new Set()
    inboxes.set(messageId, group.add(inbox))
    return () => {
      group.delete(inbox)
      if (group.size === 0 && inboxes.get(messageId) === group) inboxes.delete(messageId)
    }
  }

  return {
    begin(accountId, sender, messageId) {
      const release = slots.tryAcquire(String(accountId), 1)
      if (!release) return undefined
      const inbox = makeInbox<Outcome>()
      if (closing.aborted) inbox.close()
      const subscription = subscriptions.begin(`${accountId} ${sender}`)
      let remove = add(messageId, inbox)
      return {
        inbox,
        async listen(stored) {
          const isReplay = stored.messageId !== messageId
          if (isReplay) {
            remove()
            remove = add(stored.messageId, inbox)
          }
          return (await subscription.listen(stored.deviceId)) && !isReplay
        },
        end() {
          remove()
          subscription.end()
          release()
        },
      }
    },
    findProgress: (accountId, messageId) => batch.add({ accountId, messageId }),
  }
}

const finalStatuses: MessageStatus[] = ['sent', 'delivered', 'read', 'failed', 'canceled']

type WaitingCall = {
  principal: { accountId: number }
  deadline: Deadline
  context: { messages: { outcomeWaits: Pick<OutcomeWaits, 'findProgress'> } }
}
type MessageOfDevice = { messageId: string; deviceId: number }

/** Resolves when the message is sent or has failed, or when the time is up, with its latest progress. */
export async function awaitOutcome(
  { context, principal, deadline }: WaitingCall,
  wait: OutcomeWait,
  message: MessageOfDevice,
  waitMs: number,
): Promise<MessageProgress | undefined> {
  const endsAtMs = performance.now() + waitMs
  deadline.extend(waitMs)
  let mustRead = !(await wait.listen(message))
  let latest: MessageProgress | undefined
  for (;;) {
    if (mustRead)
      latest = await context.messages.outcomeWaits.findProgress(principal.accountId, message.messageId)
    if (latest && finalStatuses.includes(latest.status)) return latest
    const leftMs = endsAtMs - performance.now()
    if (leftMs <= 0 || deadline.isOver || wait.inbox.isClosed()) return latest
    // A lost event therefore costs at most a second.
    const told = await wait.inbox.take(Math.min(leftMs, untilNextPollMs()))
    if (told?.isStored) return { status: told.status, error: null, errorCode: null }
    mustRead = true
  }
}
