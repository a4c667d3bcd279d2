import { nextMessagesMax, type WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { isMediaType } from '@wagate/shared/message-kinds'
import type { WaitingReason } from '@wagate/shared/waiting-reasons'
import { isReadyToSend } from './content.ts'
import type { Hands } from './message-hands.ts'
import type { OutboxDevice } from './outbox-context.ts'
import { type LaneFacts, laneKey, laneOf } from './recipient-lanes.ts'

/** What the messages of a device wait for. `rest`: those that its outbox has not read, of which there are none with `hasReadAll`. */
export type OutboxWaits = { read: WaitingReason[]; hasReadAll: boolean; rest: WaitingReason }

type Parts = {
  facts: LaneFacts
  hands: Pick<Hands, 'isAcknowledged'>
  device: Pick<OutboxDevice, 'firstContacts' | 'pace'>
}

/** By the same facts as a plan. For a reader now and then: it looks at each message. */
export function readWaits(messages: WaitingMessage[], { facts, hands, device }: Parts): OutboxWaits {
  const { firstContacts, pace } = device
  const isHeld = pace.pause.leftMs() > 0
  const closed = new Set<string>()
  const newContacts = firstContacts.areActive() ? 'restriction' : 'new_contacts'
  const paced = pace.pacer.isCapped() ? 'daily_cap' : 'pace'

  function headReason(message: WaitingMessage, person: string): WaitingReason {
    const work = facts.workFor(person, message.priority)
    if (work) return work === 'prepare' ? 'file' : 'answer'
    if (isHeld) return 'paused'
    const isUnprepared = isMediaType(message.type) && !isReadyToSend(message)
    if (facts.waitMs(message) > 0) return isUnprepared ? 'file' : 'retry'
    if (!pace.contactBudget.admits(message)) return newContacts
    return isUnprepared ? 'file' : paced
  }

  function reasonOf(message: WaitingMessage): WaitingReason {
    const recipient = facts.recipientOf(message)
    const person = laneOf({ message, recipient: recipient ?? message.number })
    const lane = laneKey(person, message.priority)
    if (closed.has(lane)) return 'earlier_message'
    if (facts.waitMs(message) === 0 || !facts.mayBePassed(message)) closed.add(lane)
    if (!recipient) return isHeld ? 'paused' : 'pace'
    return headReason(message, person)
  }

  const isPaused = firstContacts.areActive() || pace.contactBudget.isUsedUp()
  return {
    read: messages.filter((message) => !hands.isAcknowledged(message)).map(reasonOf),
    hasReadAll: messages.length < nextMessagesMax && !isPaused && !isHeld,
    rest: isHeld ? 'paused' : isPaused ? newContacts : paced,
  }
}
