import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { MediaError } from '../media/media-error.ts'
import type { WASocket } from '../session/connection/socket.ts'
import { uploadMedia } from './content.ts'
import type { OutboxContext, OutboxDevice } from './outbox-context.ts'
import type { MessageResults } from './settlement.ts'

/** `unclaimed`: canceled, or the shard has another owner. */
type Prepared = 'ready' | 'failed' | 'unclaimed'

/** Fetches and uploads the media of one message. Rejects when that is not possible at present. */
export type Preparation = (message: WaitingMessage) => Promise<Prepared>

export function makePreparation(
  { config, db, media, statements }: Pick<OutboxContext, 'config' | 'db' | 'media' | 'statements'>,
  device: OutboxDevice,
  results: MessageResults,
  sock: WASocket,
): Preparation {
  const { lease, retries, vault } = device

  return async (message) => {
    const setback = retries.setbackOf(message.id)
    const claim = await statements.messageClaims.claim({
      ...message,
      fence: lease,
      recipientJid: null,
      setback,
    })
    if (!claim) return 'unclaimed'
    if (claim.refusal) {
      claim.end()
      await results.fail(message, claim.refusal)
      return 'failed'
    }
    try {
      message.uploadedContent = await uploadMedia({ config, db, media, vault, device }, sock, lease, message)
      message.failingMs = 0
      // The statement that stores the upload also releases the message.
      claim.end()
      return 'ready'
    } catch (error) {
      await claim.release()
      if (!(error instanceof MediaError)) throw error
      await results.fail(message, error.code, error.message)
      return 'failed'
    }
  }
}
