import { setTimeout as delay } from 'node:timers/promises'
import { recipientOf } from '@wagate/devnet/harness/numbers'
import type { System } from '@wagate/devnet/harness/system'

export type Accepted = { messageId: string; text: string; sender: string; number: string; at: number }
type Refused = { at: number; status: number; code: string }

/** A steady light load, whatever happens to the workers. */
export type Traffic = {
  accepted: Accepted[]
  refused: Refused[]
  /** No more requests; resolves when all are answered. */
  stop(): Promise<void>
}

export function startTraffic({ gateway }: System, senders: string[], perSecond: number): Traffic {
  const accepted: Accepted[] = []
  const refused: Refused[] = []
  const open = new Set<Promise<void>>()
  const startedAt = performance.now()
  let isStopped = false
  let count = 0

  async function send(index: number): Promise<void> {
    const sender = senders[index % senders.length] ?? ''
    const number = recipientOf(sender, Math.floor(index / senders.length))
    const text = `Message ${index}`
    try {
      const { status, body } = await gateway.call('send-message', { sender, number, message: text })
      if (status >= 200 && status < 300) {
        accepted.push({ messageId: String(body.message_id), text, sender, number, at: Date.now() })
      } else refused.push({ at: Date.now(), status, code: String(body.code) })
    } catch (error) {
      refused.push({ at: Date.now(), status: 0, code: String(error) })
    }
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      for (; count < ((performance.now() - startedAt) / 1000) * perSecond; count++) {
        const sending = send(count).finally(() => open.delete(sending))
        open.add(sending)
      }
      await delay(10)
    }
  }

  const running = run()
  return {
    accepted,
    refused,
    async stop() {
      isStopped = true
      await running
      await Promise.all(open)
    },
  }
}
