import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { within } from '@wagate/runtime/within'
import type { MessageErrorCode } from '@wagate/shared/message-errors'
import type { WASocket } from '../session/connection/socket.ts'
import type { DeviceLists } from '../session/sending/fan-out.ts'
import type { Refusal } from '../session/sending/outcomes.ts'
import type { OutboxDevice } from './outbox-context.ts'
import type { AttemptResult, MessageResults } from './settlement.ts'

/** The refused message is not marked as failed until then. */
const answerMs = 5000
/** Refusals that arrive within this time share one question. */
const burstMs = 10_000

type Parts = { device: OutboxDevice; sock: WASocket; deviceLists: DeviceLists; results: MessageResults }

/** Does what follows an acknowledgement with an error. */
export function makeRefusalHandler({
  device: { firstContacts },
  sock,
  deviceLists,
  results: { fail },
}: Parts): (message: WaitingMessage, recipient: string, refusal: Refusal) => Promise<AttemptResult> {
  /** Messages that were refused for stale device data once already. */
  const refreshed = new Set<string>()
  const askTimeLock = askOncePerBurst(sock.fetchAccountReachoutTimelock)
  const askNewChatCap = askOncePerBurst(sock.fetchNewChatMessageCap)

  /** Two causes have this error: the sender may write to no new contacts, or this contact accepts no first messages. */
  async function handleTimeLock(message: WaitingMessage): Promise<void> {
    let stored: Promise<void> | undefined
    if (!firstContacts.isLocked()) {
      firstContacts.hold(answerMs)
      const timeLock = await askTimeLock()
      if (timeLock) stored = firstContacts.note({ timeLock })
      // WhatsApp may have announced the lock in the meantime.
      else if (!firstContacts.isLocked()) stored = firstContacts.pauseLocked()
    }
    const reason = firstContacts.isLocked() ? 'sender_restricted' : 'first_contact_refused'
    await stored
    await failOnceStored(message, reason)
  }

  async function handleCap(message: WaitingMessage): Promise<void> {
    if (!firstContacts.isCapped()) {
      firstContacts.hold(answerMs)
      const info = await askNewChatCap()
      if (!firstContacts.isCapped()) await firstContacts.pauseCapped(info)
    }
    await failOnceStored(message, 'sender_restricted')
  }

  /** Whoever reads why the message failed reads the restriction of its sender next. */
  async function failOnceStored(message: WaitingMessage, reason: MessageErrorCode): Promise<void> {
    await firstContacts.untilStored()
    await fail(message, reason)
  }

  return async (message, recipient, refusal) => {
    const { code } = refusal
    switch (planAfterRefusal(refusal, refreshed.has(message.id))) {
      case 'refresh-devices':
        refreshed.add(message.id)
        await deviceLists.forget(recipient)
        return { kind: 'retry' }
      case 'try-later':
        return {
          kind: 'retry',
          setback: 'refused',
          sentence: `WhatsApp refused it for the time being (error ${code}).`,
        }
      case 'ask-time-lock':
        await handleTimeLock(message)
        return { kind: 'failed' }
      case 'ask-new-chat-cap':
        await handleCap(message)
        return { kind: 'failed' }
      case 'fail':
        await fail(message, 'rejected_by_whatsapp', `WhatsApp refused the message (error ${code}).`)
        return { kind: 'failed' }
    }
  }
}

/** Undefined when WhatsApp does not answer in time, or with an error. */
function askOncePerBurst<Answer>(ask: () => Promise<Answer>): () => Promise<Answer | undefined> {
  let asked: { atMs: number; answer: Promise<Answer | undefined> } | undefined
  return () => {
    const nowMs = performance.now()
    if (!asked || nowMs - asked.atMs > burstMs) {
      asked = { atMs: nowMs, answer: within(answerMs, ask()).catch(() => undefined) }
    }
    return asked.answer
  }
}

/**
 * What follows an acknowledgement with an error. `refresh-devices`: once more, under its id, to the devices that the
 * recipient and the sender have by now. `try-later`: again after a growing pause. The others end the message.
 */
export type RefusalPlan = 'refresh-devices' | 'try-later' | 'ask-time-lock' | 'ask-new-chat-cap' | 'fail'

/** The sender's idea of the devices or addresses is out of date. */
const staleCodes = ['421', '479']
/** WhatsApp, or the way to it, is overloaded or limits the sender. Other codes are about the message. */
const temporaryCodes = ['408', '429', '500', '503']

/** `wasRefreshed`: the message was refused for stale devices before. */
export function planAfterRefusal({ code, isMappingStale }: Refusal, wasRefreshed: boolean): RefusalPlan {
  // A first message that was refused must never be sent again: each attempt makes the restriction worse.
  if (code === '463') return 'ask-time-lock'
  if (code === '475') return 'ask-new-chat-cap'
  if (temporaryCodes.includes(code)) return 'try-later'
  const isStale = staleCodes.includes(code) || isMappingStale === true
  return isStale && !wasRefreshed ? 'refresh-devices' : 'fail'
}
