import { setTimeout as delay } from 'node:timers/promises'
import { listWaitingMessages, type WaitingMessage } from '@wagate/db/queries/outbox'
import { makeSingleFlight } from '@wagate/shared/single-flight'
import { within } from '@wagate/shared/within'
import type { WASocket } from 'baileys'
import type { DeviceContext } from '../context.ts'
import { MediaError } from '../media/media-error.ts'
import type { Lease } from '../ownership/lease.ts'
import type { Outcome } from '../session/outcomes.ts'
import type { Vault } from '../session/vault.ts'
import { isReadyToSend, uploadMedia } from './content.ts'
import { makeDelivery, type Result } from './delivery.ts'
import { makeLookUp } from './look-up.ts'
import type { NumberResolver } from './number-resolver.ts'
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
  accountId: number
  lease: Lease
  vault: Vault
  pacer: Pacer
  resolver: NumberResolver
  recorder: Recorder
  /** For how long from now it may write to no new contacts. */
  restrictedMs: number
}

const unacknowledgedMax = 8
const uploadsMax = 4
const retryMs = 1000
const holdMsMax = 30_000

/**
 * Sends the waiting messages of one device through one socket, in their order for each recipient: a message
 * waits for the answer to the one before it only if both go to the same recipient. What had no answer when
 * the socket ended stays `sending` in the database and is sent again, under the same id, through the next.
 */
export function startOutbox(context: DeviceContext, device: OutboxDevice, sock: WASocket): Outbox {
  const { logger } = context
  const { resolver } = device
  const { lease } = device
  const delivery = makeDelivery(context, device, sock)
  const lookUp = makeLookUp(sock)
  const waiting = makeWaitingList((query) =>
    listWaitingMessages(context.db, device.id, { ...query, contactsOnly: isRestricted() }),
  )
  let restrictedUntilMs = performance.now() + device.restrictedMs
  const stopping = new AbortController()
  let isDraining = false
  let isWaking = false
  let pumpAtMs = Number.POSITIVE_INFINITY
  let isResolving = false
  let uploads = 0
  const sends = new Set<Promise<Result>>()
  const recordings = new Set<Promise<void>>()
  /** Acknowledged, but not recorded yet: neither to be read nor to be sent again. */
  const settled = new Set<string>()
  /** Recipients with a message in somebody's hands: on the wire, in upload, or on hold after a failure. */
  const busy = new Set<string>()
  const failures = new Map<string, number>()

  const isRestricted = () => performance.now() < restrictedUntilMs
  const maySend = () => !stopping.signal.aborted && !isDraining && lease.isValid()
  const pump = makeSingleFlight(pumpOnce, (error) => {
    logger.warn({ err: error, deviceId: device.id }, 'The outbox could not go on, trying again')
    pumpAfter(retryMs)
  })

  function pumpAfter(ms: number): void {
    const atMs = performance.now() + ms
    // What wakes a paced outbox again and again need not leave a timer each time.
    if (atMs >= pumpAtMs) return
    pumpAtMs = atMs
    delay(ms, undefined, { signal: stopping.signal }).then(
      () => {
        pumpAtMs = Number.POSITIVE_INFINITY
        pump()
      },
      () => undefined,
    )
  }

  async function pumpOnce(): Promise<void> {
    if (!maySend()) return
    await waiting.refill(isBlocked)
    resolveRecipients()
    for (const message of waiting.list()) {
      if (!maySend() || sends.size >= unacknowledgedMax) return
      const recipient = recipientOf(message)
      if (recipient === undefined || isBlocked(message)) continue
      if (recipient === null) {
        waiting.remove(message)
        void delivery.fail(message, 'recipient_not_on_whatsapp')
      } else if (!isReadyToSend(message)) {
        if (uploads < uploadsMax) void upload(message, recipient)
      } else {
        const waitMs = device.pacer.take(message.waId)
        if (waitMs > 0) return pumpAfter(waitMs)
        void send(message, recipient)
      }
    }
  }

  function recipientOf(message: WaitingMessage): string | null | undefined {
    return message.recipientJid ?? resolver.find(message.number)
  }

  function isBlocked(message: WaitingMessage): boolean {
    return settled.has(message.id) || busy.has(recipientOf(message) ?? '')
  }

  function resolveRecipients(): void {
    const unknown = waiting.list().filter((message) => recipientOf(message) === undefined)
    if (unknown.length === 0 || isResolving) return
    const numbers = [...new Set(unknown.map(({ number }) => number))]
    const due = numbers.filter((number) => resolver.waitMs(number) === 0)
    if (due.length === 0) {
      pumpAfter(Math.min(...numbers.map(resolver.waitMs)))
      return
    }
    isResolving = true
    const resolved = resolver.resolve(due, lookUp).finally(() => {
      isResolving = false
    })
    resolved.then(pump, (error) => {
      logger.warn({ err: error, deviceId: device.id }, 'A look-up of recipients failed, will retry')
      pumpAfter(retryMs)
    })
  }

  async function upload(message: WaitingMessage, recipient: string): Promise<void> {
    uploads += 1
    await occupy(message, recipient, async () => {
      try {
        message.uploadedContent = await uploadMedia(
          { ...context, vault: device.vault, device },
          sock,
          lease,
          message,
        )
      } catch (error) {
        if (!(error instanceof MediaError)) throw error
        await delivery.fail(message, error.code)
        waiting.remove(message)
      } finally {
        uploads -= 1
      }
    })
  }

  async function send(message: WaitingMessage, recipient: string): Promise<void> {
    const sending = delivery.send(message, recipient, maySend)
    sends.add(sending)
    await occupy(message, recipient, async () => {
      const result = await sending.finally(() => sends.delete(sending))
      if (result === 'acknowledged') record(message)
      else if (result === 'unclaimed') {
        waiting.skip(message)
        device.pacer.giveBack(message.waId)
      } else if (result !== 'unanswered') {
        waiting.remove(message)
        device.pacer.settle(message.waId)
        if (result === 'restricted') restrict()
      }
    })
  }

  /** What was read ahead may be for new contacts: those stay in the database until the restriction is over. */
  function restrict(): void {
    restrictedUntilMs = performance.now() + context.config.RESTRICTION_PAUSE_MS
    for (const message of waiting.list()) if (!isBlocked(message)) waiting.remove(message)
    waiting.mayHaveMore()
  }

  /** The recipient's next message does not wait for this. */
  function record(message: WaitingMessage): void {
    settled.add(message.id)
    const recording = delivery.recordSent(message).then(() => {
      waiting.remove(message)
      settled.delete(message.id)
      recordings.delete(recording)
    })
    recordings.add(recording)
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

  async function holdAfter(error: unknown, { id }: WaitingMessage): Promise<void> {
    if (stopping.signal.aborted) return
    const failed = failures.get(id) ?? 0
    failures.set(id, failed + 1)
    logger.warn(
      { err: error, deviceId: device.id, messageId: id },
      'A message could not be sent, trying again',
    )
    const holdMs = Math.min(holdMsMax, 500 * 2 ** failed)
    await delay(holdMs, undefined, { signal: stopping.signal }).catch(() => undefined)
  }

  function wakeNow(): void {
    isWaking = false
    waiting.mayHaveMore()
    pump()
  }

  /** Finding the messages to known contacts among others is work for the database: not for each that comes. */
  function wakeSoon(): void {
    if (isWaking) return
    isWaking = true
    delay(retryMs, undefined, { signal: stopping.signal }).then(wakeNow, () => undefined)
  }

  pump()
  return {
    wake: () => (isRestricted() ? wakeSoon() : wakeNow()),
    settle: delivery.settle,
    async drain(timeoutMs) {
      isDraining = true
      const answered = Promise.allSettled(sends).then(() => Promise.allSettled(recordings))
      await within(timeoutMs, answered)
    },
    stop() {
      stopping.abort()
      delivery.close()
    },
  }
}
