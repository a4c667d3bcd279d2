import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { isMediaType } from '@wagate/shared/message-kinds'
import type { ClaimRequest, MessageClaim, MessageClaims } from './message-claims.ts'
import type { MessageResults } from './message-results.ts'
import type { OutboxDevice } from './outbox-context.ts'

/** `unclaimed`: canceled, the shard has another owner, or the message has to wait. */
export class NotSent extends Error {
  readonly result: 'unclaimed' | 'failed' | 'paused'

  constructor(result: NotSent['result']) {
    super('The message must not be sent')
    this.result = result
  }
}

type SendClaim = {
  /** Undefined for a message that is claimed late. */
  early: MessageClaim | undefined
  /** Call right before the message is encrypted. It may leave when this resolves. Rejects with `NotSent`. */
  claim(): Promise<MessageClaim>
}

/** Claims messages that are about to be sent. Rejects with `NotSent`. */
export function makeSendClaims(
  { messageClaims }: { messageClaims: MessageClaims },
  {
    lease,
    retries,
    sentRecipients,
    pace: { contactBudget, sendsSinceMs },
  }: Pick<OutboxDevice, 'lease' | 'retries' | 'sentRecipients' | 'pace'>,
  results: Pick<MessageResults, 'fail'>,
): (message: WaitingMessage, recipient: string) => Promise<SendClaim> {
  /**
   * A text that cannot have stopped an earlier owner is claimed in one statement with the Signal state that encrypts it.
   * Anything else is claimed before it is handled, so that the next owner knows what a dead one was handling.
   */
  function isClaimedLate({ id, type, status, replyTo, interruptions, createdAt }: WaitingMessage): boolean {
    const isFirstAttempt = status === 'queued' && retries.setbackOf(id) === null && interruptions === 0
    return !isMediaType(type) && !replyTo && isFirstAttempt && Date.parse(createdAt) >= sendsSinceMs
  }

  async function claimFirst(request: ClaimRequest & WaitingMessage): Promise<MessageClaim | undefined> {
    try {
      const claim = await messageClaims.claimFirst(request)
      const contact = claim?.contact
      contactBudget.conclude(request, contact ? { kind: 'claimed', ...contact } : { kind: 'unclaimed' })
      return claim
    } catch (error) {
      contactBudget.conclude(request, { kind: 'unknown' })
      throw error
    }
  }

  async function finish(
    message: WaitingMessage,
    recipient: string,
    claim: MessageClaim | undefined,
  ): Promise<MessageClaim> {
    if (!claim) throw new NotSent('unclaimed')
    message.recipientJid = recipient
    sentRecipients.note(message.waId, recipient)
    if (!claim.refusal) return claim
    claim.end()
    await results.fail(message, claim.refusal)
    throw new NotSent('failed')
  }

  return async (message, recipient) => {
    const admission = await contactBudget.reserve(message)
    if (admission === 'wait') throw new NotSent('unclaimed')
    const setback = retries.setbackOf(message.id)
    const request = { ...message, fence: lease, recipientJid: recipient, setback }
    if (admission === 'admitted' && isClaimedLate(message)) {
      const claim = async () => finish(message, recipient, await messageClaims.claimLate(request))
      return { early: undefined, claim }
    }
    const given = admission === 'admitted' ? await messageClaims.claim(request) : await claimFirst(request)
    const early = await finish(message, recipient, given)
    return { early, claim: async () => early }
  }
}
