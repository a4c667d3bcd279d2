import type { Contact } from '@wagate/db/queries/contacts/known-contacts'
import type { Away, NewMessage, Pause } from '@wagate/db/queries/messages/accept-messages'
import type { MessageStatus } from '@wagate/shared/statuses'
import { idempotencyKeyReused } from '../changes/idempotency-key.ts'
import { AppError } from '../errors/app-error.ts'
import { mediaFull, senderBlocked, senderNotConnected, senderNotFound, senderPaused } from './send-errors.ts'
import { initialStatus, type StoreResult } from './store-messages.ts'

export type AcceptedMessage = {
  messageId: string
  deviceId: number
  status: MessageStatus
  isReplay: boolean
  away: Away | null
  hold: Pause | null
  contact: Contact
}

/** Throws the AppError of a result that is not an acceptance or a replay. */
export function toAcceptedMessage(message: NewMessage, result: StoreResult | undefined): AcceptedMessage {
  switch (result?.outcome) {
    case 'accepted': {
      const { deviceId, away, hold, contact } = result
      const status = initialStatus(message)
      return { messageId: message.id, deviceId, status, isReplay: false, away, hold, contact }
    }
    case 'replayed': {
      const { payloadHash, messageId, deviceId, status, contact } = result.use
      if (payloadHash !== message.idempotency?.payloadHash) throw idempotencyKeyReused()
      return { messageId, deviceId, status, isReplay: true, away: null, hold: null, contact }
    }
    case 'sender_not_found':
      throw senderNotFound(message.sender)
    case 'sender_not_connected':
      throw senderNotConnected()
    case 'sender_blocked':
      throw senderBlocked(result.reason)
    case 'sender_paused':
      throw senderPaused(result.until)
    case 'media_full':
      throw mediaFull()
    case 'media_lost':
      throw new AppError('unavailable', 'The file could not be stored. Try again.', { retryAfterSeconds: 1 })
    case 'failed':
      throw result.error
    default:
      throw new AppError('unavailable', 'Another request is using this idempotency key. Try again.', {
        retryAfterSeconds: 1,
      })
  }
}
