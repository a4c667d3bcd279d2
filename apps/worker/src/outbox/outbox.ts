import { setTimeout as delay } from 'node:timers/promises'
import { setRestricted } from '@wagate/db/queries/device-state'
import { listWaitingMessages, type WaitingMessage } from '@wagate/db/queries/outbox'
import type { WASocket } from 'baileys'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'
import type { Outcome } from '../session/outcomes.ts'
import type { DeviceCaches } from '../session/socket.ts'
import type { Vault } from '../session/vault.ts'
import { makeSingleFlight } from '../single-flight.ts'
import { contentOf, isReadyToSend, uploadMedia } from './content.ts'
import { makeLookUp, userOf } from './look-up.ts'
import { MediaError } from './media-error.ts'
import { type Answer, makeOnWire } from './on-wire.ts'
import type { Pacer } from './pacer.ts'
import type { Recorder } from './recorder.ts'
import { makeWaitingList } from './waiting-list.ts'

export type Outbox = {
  /** There may be new rows. */
  wake(): void
  /** WhatsApp said something of a message of this device. */
  settle(waId: string, outcome: Outcome): void
  /** Sends nothing new and waits, at most this long, for the answers to what is on the wire. */
  drain(timeoutMs: number): Promise<void>
  stop(): void
}

export type OutboxDevice = {
  id: number
  lease: Lease
  vault: Vault
  caches: DeviceCaches
  pacer: Pacer
  recorder: Recorder
}

const unacknowledgedMax = 8
const uploadsMax = 4
const holdMsMax = 30_000
const restrictedMs = 3_600_000

/**
 * Sends the waiting messages of one device through one socket, in their order for each recipient: a message
 * waits for the answer to the one before it only if both go to the same recipient. What had no answer when
 * the socket ended stays `sending` in the database and is sent again, under the same id, through the next.
 */
export function startOutbox(context: DeviceContext, device: OutboxDevice, sock: WASocket): Outbox {
  const { config, logger } = context
  const { lease, recorder } = device
  const onWire = makeOnWire()
  const lookUp = makeLookUp(sock)
  const waiting = makeWaitingList((query) => listWaitingMessages(context.db, device.id, query))
  const stopping = new AbortController()
  let isDraining = false
  let isResolving = false
  const sends = new Set<Promise<void>>()
  const recordings = new Set<Promise<void>>()
  let uploads = 0
  /** Acknowledged messages whose outcome is not stored yet: they must not be read and sent again. */
  const settled = new Set<string>()
  /** Recipients with a message in somebody's hands: on the wire, in upload, or on hold after a failure. */
  const busy = new Set<string>()
  const failures = new Map<string, number>()

  const pump = makeSingleFlight(pumpOnce, (error) => {
    logger.warn({ err: error, deviceId: device.id }, 'The outbox could not go on, trying again')
    pumpAfter(1000)
  })

  function pumpAfter(ms: number): void {
    delay(ms, undefined, { signal: stopping.signal }).then(pump, () => undefined)
  }

  async function pumpOnce(): Promise<void> {
    if (stopping.signal.aborted || isDraining || !lease.isValid()) return
    await waiting.refill((message) => settled.has(message.id) || busy.has(recipientOf(message) ?? ''))
    resolveRecipients()
    for (const message of waiting.list()) {
      if (stopping.signal.aborted || isDraining || sends.size >= unacknowledgedMax) return
      const recipient = recipientOf(message)
      if (settled.has(message.id)) continue
      if (recipient === undefined || (recipient && busy.has(recipient))) continue
      if (recipient === null) {
        waiting.remove(message)
        void recorder.fail(message.waId, 'recipient_not_on_whatsapp')
      } else if (!isReadyToSend(message)) {
        if (uploads < uploadsMax) void upload(message, recipient)
      } else {
        const waitMs = device.pacer.take(performance.now())
        if (waitMs > 0) return pumpAfter(waitMs)
        void send(message, recipient)
      }
    }
  }

  function recipientOf(message: WaitingMessage): string | null | undefined {
    return message.recipientJid ?? context.recipients.find(message.number)
  }

  function resolveRecipients(): void {
    const numbers = waiting
      .list()
      .filter((message) => recipientOf(message) === undefined)
      .map(({ number }) => number)
    if (numbers.length === 0 || isResolving) return
    isResolving = true
    context.recipients
      .resolve([...new Set(numbers)], lookUp)
      .then(pump, (error) => {
        logger.warn({ err: error, deviceId: device.id }, 'Recipients could not be looked up, trying again')
        pumpAfter(1000)
      })
      .finally(() => {
        isResolving = false
      })
  }

  /** Does one thing for a message while its recipient waits; after a failure the recipient waits longer. */
  async function occupy(
    message: WaitingMessage,
    recipient: string,
    work: () => Promise<void>,
  ): Promise<void> {
    busy.add(recipient)
    try {
      await work()
      failures.delete(message.id)
    } catch (error) {
      await holdAfter(error, message)
    }
    busy.delete(recipient)
    pump()
  }

  async function holdAfter(error: unknown, message: WaitingMessage): Promise<void> {
    if (stopping.signal.aborted) return
    const failed = failures.get(message.id) ?? 0
    failures.set(message.id, failed + 1)
    logger.warn(
      { err: error, deviceId: device.id, messageId: message.id },
      'A message could not be sent, trying again',
    )
    const holdMs = Math.min(holdMsMax, 500 * 2 ** failed)
    await delay(holdMs, undefined, { signal: stopping.signal }).catch(() => undefined)
  }

  async function upload(message: WaitingMessage, recipient: string): Promise<void> {
    uploads += 1
    await occupy(message, recipient, async () => {
      try {
        message.uploadedContent = await uploadMedia({ ...context, ...device }, sock, lease, message)
      } catch (error) {
        if (!(error instanceof MediaError)) throw error
        await recorder.fail(message.waId, error.code)
        waiting.remove(message)
      } finally {
        uploads -= 1
      }
    })
  }

  async function send(message: WaitingMessage, recipient: string): Promise<void> {
    const sending = claimAndSend(message, recipient)
    sends.add(sending)
    await occupy(message, recipient, () => sending.finally(() => sends.delete(sending)))
  }

  async function claimAndSend(message: WaitingMessage, recipient: string): Promise<void> {
    const isClaimed = await context.claims.add({ ...message, fence: lease, recipientJid: recipient })
    if (!isClaimed) return waiting.skip(message)
    if (stopping.signal.aborted || isDraining || !lease.isValid()) return
    await handleAnswer(message, recipient, await relay(message, recipient))
  }

  async function relay(message: WaitingMessage, recipient: string): Promise<Answer> {
    const content = await contentOf(device.vault, message)
    const answer = onWire.expect(message.waId, config.SEND_ACK_TIMEOUT_MS)
    try {
      await sock.relayMessage(recipient, content, { messageId: message.waId })
    } catch (error) {
      onWire.forget(message.waId)
      throw error
    }
    return answer
  }

  /** Without an answer the message stays where it is, and goes again under the same id. */
  async function handleAnswer(message: WaitingMessage, recipient: string, answer: Answer): Promise<void> {
    if (answer.kind === 'acknowledged') recordSent(message)
    else if (answer.kind === 'refused') await handleRefusal(message, recipient, answer.code)
  }

  /** The recipient's next message need not wait for this. */
  function recordSent(message: WaitingMessage): void {
    settled.add(message.id)
    const recording = recorder.record(message.waId, 'sent', new Date()).then(() => {
      waiting.remove(message)
      settled.delete(message.id)
      recordings.delete(recording)
    })
    recordings.add(recording)
  }

  async function handleRefusal(message: WaitingMessage, recipient: string, code: string): Promise<void> {
    if (code === '479' && !failures.has(message.id)) {
      // The recipient's devices changed since we asked for them: once with fresh ones.
      device.caches.userDevices.delete(userOf(recipient))
      throw new Error('WhatsApp refused the message because of stale device data')
    }
    if (code === '463') {
      // Sending on to new contacts would make the restriction worse.
      await setRestricted(context.db, lease, device.id, restrictedMs)
      await recorder.fail(message.waId, 'sender_restricted')
    } else {
      await recorder.fail(
        message.waId,
        'rejected_by_whatsapp',
        `WhatsApp refused the message (error ${code}).`,
      )
    }
    waiting.remove(message)
  }

  pump()
  return {
    wake() {
      waiting.mayHaveMore()
      pump()
    },
    settle: onWire.settle,
    async drain(timeoutMs) {
      isDraining = true
      const answered = Promise.allSettled(sends).then(() => Promise.allSettled(recordings))
      await Promise.race([answered, delay(timeoutMs, undefined, { ref: false })])
    },
    stop() {
      stopping.abort()
      onWire.closeAll()
    },
  }
}
