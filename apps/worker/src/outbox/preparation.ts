import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import type { DeviceContext } from '../context.ts'
import { MediaError } from '../media/media-error.ts'
import type { WASocket } from '../session/connection/socket.ts'
import { uploadMedia } from './content.ts'
import type { MessageResults } from './message-results.ts'
import type { OutboxDevice } from './outbox-device.ts'

/** `unclaimed`: canceled, or the shard has another owner. */
type Prepared = 'ready' | 'failed' | 'unclaimed'

/** Fetches and uploads the media of one message. Rejects when that is not possible at present. */
export function makePreparation(
  context: DeviceContext,
  device: OutboxDevice,
  results: MessageResults,
  sock: WASocket,
): (message: WaitingMessage) => Promise<Prepared> {
  const { lease, retries, vault } = device

  return async (message) => {
    const setback = retries.setbackOf(message.id)
    const claim = await context.messageClaims.claim({ ...message, fence: lease, recipientJid: null, setback })
    if (!claim) return 'unclaimed'
    if (claim.refusal) {
      claim.end()
      await results.fail(message, claim.refusal)
      return 'failed'
    }
    try {
      message.uploadedContent = await uploadMedia({ ...context, vault, device }, sock, lease, message)
      // The statement that stores the upload also releases the message.
      claim.end()
      return 'ready'
    } catch (error) {
      await claim.release()
      if (!(error instanceof MediaError)) throw error
      await results.fail(message, error.code)
      return 'failed'
    }
  }
}
