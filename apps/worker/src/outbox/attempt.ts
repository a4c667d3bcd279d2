import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { isMediaType } from '@wagate/shared/message-kinds'
import { refusalLabel } from '../metrics/metrics.ts'
import type { WASocket } from '../session/connection/socket.ts'
import {
  coverageOf,
  type DeviceLists,
  type FanOut,
  makeDeviceLists,
  watchFanOut,
} from '../session/sending/fan-out.ts'
import type { Acknowledgement } from '../session/sending/outcomes.ts'
import { contentOf } from './content.ts'
import type { AckResult, InFlight } from './in-flight.ts'
import type { ClaimRequest, MessageClaim, MessageClaims } from './message-claims.ts'
import type { HandMove } from './message-hands.ts'
import { makeEnsureRecipientSessions } from './number-resolver.ts'
import type { OutboxContext, OutboxDevice } from './outbox-context.ts'
import { addressesOf, laneOf, type Turn } from './recipient-lanes.ts'
import { makeRefusalHandler } from './refusals.ts'
import type { AttemptResult, MessageResults } from './settlement.ts'

type Hooks = {
  maySend(): boolean
  /** Called with each step of the message (message-hands.ts). */
  onMove(move: HandMove): void
}

/** Rejects when the message cannot be sent at present. */
export type Attempt = (turn: Turn, hooks: Hooks) => Promise<AttemptResult>

/**
 * One attempt to send a message through one socket. In this order:
 *
 * 1. The recipient's devices are known, and there is a Signal session with each.
 * 2. The message is claimed: `sending` in Postgres, under the fence of this owner. A text that no owner has tried before is
 *    claimed late, in the statement that stores the Signal state which encrypts it (0044).
 * 3. It is encrypted. Nothing leaves before the claim is stored.
 * 4. It is written, and WhatsApp's answer is awaited, or a receipt of the recipient, until `ACK_TIMEOUT_MS` is over.
 *
 * What is uncertain after that (no answer, a broken connection) is sent again under the same id, which phones show once.
 */
export function makeAttempt(
  context: Pick<OutboxContext, 'config' | 'logger' | 'metrics' | 'statements'>,
  device: OutboxDevice,
  sock: WASocket,
  { inFlight, results }: { inFlight: InFlight; results: MessageResults },
): Attempt {
  const { config, logger, metrics, statements } = context
  const deviceLists = makeDeviceLists(sock)
  const checkFanOut = makeFanOutCheck(sock, deviceLists)
  const ensureRecipientSessions = makeEnsureRecipientSessions(sock, device.resolver)
  const handleRefusal = makeRefusalHandler({ device, sock, deviceLists, results })
  const beginClaim = makeSendClaims(statements, device, results)

  async function compareDevices(recipient: string, fanOut: FanOut, given: Acknowledgement): Promise<void> {
    try {
      await deviceLists.compare(recipient, fanOut, given)
    } catch (error) {
      // The message is sent, and a later acknowledgement says the same.
      logger.warn({ err: error, deviceId: device.id }, 'Forgetting stale device lists failed')
    }
  }

  /** The pause may have begun after the message was read, while it was prepared, or between two attempts. */
  function refuseWhilePaused(message: WaitingMessage): void {
    if (device.firstContacts.areActive() && !message.isToContact) throw new NotSent('paused')
  }

  async function relay(
    turn: Turn,
    claim: () => Promise<MessageClaim>,
    onWrite: () => void,
  ): Promise<AckResult> {
    const { message, recipient } = turn
    const keys = { vault: device.vault, creds: sock.authState.creds }
    const content = await contentOf(keys, message, recipient)
    const stopTimer = metrics.acknowledgeSeconds.startTimer()
    const answer = inFlight.track(
      { waId: message.waId, addresses: () => addressesOf(turn) },
      config.outbox.ackTimeoutMs,
    )
    const claiming = claim()
    // It may fail while the message is still being encrypted, when nobody awaits it yet.
    claiming.catch(() => undefined)
    let fanOut: FanOut
    try {
      const send = () => sock.relayMessage(recipient, content, { messageId: message.waId })
      fanOut = await watchFanOut(content, send, () => claiming.then(onWrite))
      device.pace.recipientPace.noteSent(laneOf({ message, recipient }))
    } catch (error) {
      inFlight.forget(message.waId)
      // Baileys only tells that it could not encrypt.
      await claiming
      throw error
    } finally {
      await claiming.then(
        ({ releaseSuspect }) => releaseSuspect(),
        () => undefined,
      )
      message.interruptions = 0
    }
    const given = await answer
    metrics.sends.inc({ result: given.kind })
    if (given.kind === 'refused') metrics.refusals.inc({ code: refusalLabel(given.code) })
    // Not earlier: an acknowledgement after the end of its attempt spares the message the next one.
    await checkFanOut(message, recipient, fanOut)
    if (given.kind === 'acknowledged') {
      stopTimer()
      await compareDevices(recipient, fanOut, given)
    }
    return given
  }

  async function attempt(turn: Turn, { maySend, onMove }: Hooks): Promise<AttemptResult> {
    const { message, recipient } = turn
    refuseWhilePaused(message)
    await ensureRecipientSessions(recipient)
    refuseWhilePaused(message)
    const { early, claim } = await beginClaim(message, recipient)
    if (!maySend()) {
      early?.end()
      return { kind: 'retry' }
    }
    async function claimNow(): Promise<MessageClaim> {
      const claimed = await claim()
      onMove('claimed')
      return claimed
    }
    const answer = await relay(turn, claimNow, () => onMove('write'))
    if (answer.kind === 'acknowledged') return { kind: 'acknowledged' }
    if (answer.kind !== 'refused') return { kind: 'retry', setback: answer.kind }
    onMove('refuse')
    return handleRefusal(message, recipient, answer)
  }

  return (turn, hooks) =>
    attempt(turn, hooks).catch((error) => {
      if (error instanceof NotSent) return { kind: error.result }
      throw error
    })
}

/**
 * Throws when a device of the recipient was left out, once for each message, and whenever nothing is for the recipient:
 * WhatsApp acknowledges such a message as well.
 */
function makeFanOutCheck(
  sock: WASocket,
  deviceLists: DeviceLists,
): (message: WaitingMessage, recipient: string, fanOut: FanOut) => Promise<void> {
  /** Messages that left out a device of their recipient once already. */
  const incomplete = new Set<string>()

  return async (message, recipient, fanOut) => {
    const coverage = coverageOf(fanOut, recipient, [sock.user?.id, sock.user?.lid])
    // A device whose keys are permanently bad must not keep the others from their messages.
    if (coverage === 'all' || (coverage === 'part' && incomplete.has(message.id))) return
    incomplete.add(message.id)
    await deviceLists.forget(recipient)
    throw new Error('The message could not be encrypted for every device of its recipient')
  }
}

/** `unclaimed`: canceled, the shard has another owner, or the message has to wait. */
class NotSent extends Error {
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
function makeSendClaims(
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

  /** `message`: it gets the number of its LID if that is learnt meanwhile. */
  async function claimFirst(
    message: WaitingMessage,
    request: ClaimRequest,
  ): Promise<MessageClaim | undefined> {
    try {
      const claim = await messageClaims.claimFirst(request)
      const contact = claim?.contact
      contactBudget.conclude(message, contact ? { kind: 'claimed', ...contact } : { kind: 'unclaimed' })
      return claim
    } catch (error) {
      contactBudget.conclude(message, { kind: 'unknown' })
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
    const given =
      admission === 'admitted' ? await messageClaims.claim(request) : await claimFirst(message, request)
    const early = await finish(message, recipient, given)
    return { early, claim: async () => early }
  }
}
