import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, Gateway } from './gateway.ts'
import { recipientOf, recipientsPerSender } from './numbers.ts'

/** One request. `status` 0: no answer came. */
export type Attempt = {
  atMs: number
  tookMs: number
  status: number
  code: string | undefined
  retryAfter: string | undefined
}

export type Sent = {
  /** The text and the idempotency key. */
  text: string
  sender: string
  number: string
  /** Undefined as long as it was not accepted. */
  messageId: string | undefined
  attempts: Attempt[]
}

/** A steady load, whatever happens to what it is put on. */
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
}

const retryMs = 250

/**
 * Every sender writes to its recipients, to each of them one message after the other: the next one when the one
 * before was answered. A request without a clear answer is repeated under its idempotency key.
 */
export function startLoad(gateway: Gateway, options: LoadOptions): Load {
  const { senders, perSecond, name, random = Math.random } = options
  const sent: Sent[] = []
  const pauseMs = (1000 * senders.length * recipientsPerSender) / perSecond
  const stopping = new AbortController()
  // Every pair rests on it.
  setMaxListeners(0, stopping.signal)
  const rest = (ms: number) => delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined)

  async function attempt({ sender, number, text }: Sent): Promise<Attempt & { messageId?: string }> {
    const startedAt = performance.now()
    const atMs = Date.now()
    const fields = { sender, number, message: text, idempotency_key: text }
    const none: Answer = { status: 0, headers: {}, body: {} }
    const answer = await gateway.call('send-message', fields).catch(() => none)
    const tookMs = performance.now() - startedAt
    const { status, headers, body } = answer
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
      // A refusal is a clear answer.
      if (messageId !== undefined || (made.status >= 400 && made.status < 500)) return
      await delay(retryMs)
    }
  }

  async function runPair(sender: string, number: string): Promise<void> {
    await rest(random() * pauseMs)
    for (let count = 0; !stopping.signal.aborted; count++) {
      const startedAt = performance.now()
      const text = `${name} ${sender} ${number} ${count}`
      await send({ text, sender, number, messageId: undefined, attempts: [] })
      await rest(Math.max(0, pauseMs - (performance.now() - startedAt)))
    }
  }

  const running = senders.flatMap((sender) =>
    Array.from({ length: recipientsPerSender }, (_, index) => runPair(sender, recipientOf(sender, index))),
  )
  return {
    sent,
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}
