import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { chooseKind, chooseTime, type MessageKind, type Mix, requestOf } from './message-kinds.ts'
import { recipientOf, recipientsPerSender } from './numbers.ts'
import type { Answer, Gateway } from './pooled-client.ts'

/** One request. `status` 0: no answer came. */
export type Attempt = {
  atMs: number
  tookMs: number
  status: number
  code: string | undefined
  retryAfter: string | undefined
}

export type Sent = {
  /** The text or caption, and the idempotency key. */
  text: string
  kind: MessageKind
  sender: string
  number: string
  /** ISO 8601; undefined is at once. */
  sendAt: string | undefined
  /** Undefined as long as it was not accepted. */
  messageId: string | undefined
  attempts: Attempt[]
  /** The gateway said that it will never leave. */
  isCanceled: boolean
}

/** A steady load, which continues during failures. */
export type Load = {
  /** In the order in which the first attempts were made. */
  sent: Sent[]
  /** No new messages; resolves when those that had no clear answer have one. */
  stop(): Promise<void>
}

export type LoadOptions = {
  senders: string[]
  perSecond: number
  /** Distinguishes this load's texts from those of others. */
  name: string
  random?: () => number
  /** Texts alone by default. */
  mix?: Mix
  /** Further recipients of a sender, with the pace of the others. */
  furtherRecipients?(sender: string): string[]
}

const retryMs = 250
const cancelAfterMsMax = 500

/**
 * Every sender writes to its recipients, to each of them one message after the other: the next one when the one
 * before was answered. A request without a clear answer is repeated under its idempotency key.
 */
export function startLoad(gateway: Gateway, options: LoadOptions): Load {
  const { senders, perSecond, name, random = Math.random, mix = {}, furtherRecipients = () => [] } = options
  const sent: Sent[] = []
  const pauseMs = (1000 * senders.length * recipientsPerSender) / perSecond
  const stopping = new AbortController()
  // Every pair rests on it.
  setMaxListeners(0, stopping.signal)
  const rest = (ms: number) => delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined)

  function ask(operation: string, fields: Record<string, unknown>): Promise<Answer> {
    return gateway.call(operation, fields).catch(() => ({ status: 0, headers: {}, body: {}, text: '' }))
  }

  async function attempt(message: Sent): Promise<Attempt & { messageId?: string }> {
    const startedAt = performance.now()
    const atMs = Date.now()
    const { operation, fields } = requestOf(message)
    const { status, headers, body } = await ask(operation, fields)
    const tookMs = performance.now() - startedAt
    const code = typeof body.code === 'string' ? body.code : undefined
    const retryAfter = headers['retry-after']
    return {
      atMs,
      tookMs,
      status,
      code,
      retryAfter,
      ...(status === 200 && { messageId: String(body.message_id) }),
    }
  }

  async function send(message: Sent): Promise<void> {
    sent.push(message)
    for (;;) {
      const { messageId, ...made } = await attempt(message)
      message.attempts.push(made)
      message.messageId = messageId
      if (messageId !== undefined || isRefusal(made.status)) return
      await delay(retryMs)
    }
  }

  async function cancel(message: Sent): Promise<void> {
    await delay(random() * cancelAfterMsMax)
    for (;;) {
      const { status } = await ask('cancel-message', { message_id: message.messageId })
      message.isCanceled = status === 200
      if (message.isCanceled || isRefusal(status)) return
      await delay(retryMs)
    }
  }

  async function runPair(sender: string, number: string): Promise<void> {
    await rest(random() * pauseMs)
    for (let count = 0; !stopping.signal.aborted; count++) {
      const startedAt = performance.now()
      const kind = chooseKind(mix, random)
      const message: Sent = {
        text: `${name} ${sender} ${number} ${count}`,
        kind,
        sender,
        number,
        sendAt: chooseTime(kind, random),
        messageId: undefined,
        attempts: [],
        isCanceled: false,
      }
      await send(message)
      if (kind === 'canceled' && message.messageId !== undefined) await cancel(message)
      await rest(Math.max(0, pauseMs - (performance.now() - startedAt)))
    }
  }

  const running = senders.flatMap((sender) => {
    const known = Array.from({ length: recipientsPerSender }, (_, index) => recipientOf(sender, index))
    return [...known, ...furtherRecipients(sender)].map((number) => runPair(sender, number))
  })
  return {
    sent,
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

/** A clear answer: repeating the request would change nothing. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500
}
