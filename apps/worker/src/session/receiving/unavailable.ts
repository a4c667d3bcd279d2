import type { UnavailableReason } from '@wagate/shared/unavailable'
import { type BinaryNode, getBinaryNodeChild } from 'baileys'

const reasons: { [type: string]: UnavailableReason } = {
  view_once: 'view_once',
  view_once_unavailable_fanout: 'view_once',
  hosted_unavailable_fanout: 'hosted',
  bot_unavailable_fanout: 'bot',
}

/** Why WhatsApp keeps the content of a message from companions. Undefined for a message that has its content. */
export function unavailableReasonOf(node: BinaryNode): UnavailableReason | undefined {
  const given = getBinaryNodeChild(node, 'unavailable')
  if (!given || getBinaryNodeChild(node, 'enc')) return undefined
  return reasons[given.attrs.type ?? ''] ?? 'withheld'
}

/** Senders answer no further request. */
const triesMax = 5
/** In which a sender that is online has answered several requests. */
const graceMs = 60_000
const messagesMax = 1000

/** Messages that could not be decrypted, and were asked for again. */
export type Undecryptable = {
  /** `isLast`: the sender will not send it again. */
  failed(id: string, report: () => void, isLast: boolean): void
  opened(id: string): void
  /** Forgets them: the session has ended. */
  close(): void
}

/** How often the sender of a stanza was asked for it. */
export function triesOf(node: BinaryNode): number {
  return Number(getBinaryNodeChild(node, 'enc')?.attrs.count ?? 0)
}

export const isLastTry = (node: BinaryNode) => triesOf(node) >= triesMax

/** Reports each message once, when it was not decrypted in time or at the last try. */
export function makeUndecryptable(waitMs = graceMs): Undecryptable {
  const waiting = new Map<string, NodeJS.Timeout | undefined>()

  function end(id: string): void {
    clearTimeout(waiting.get(id))
    // Remembered, so that it is reported once.
    waiting.set(id, undefined)
  }

  return {
    failed(id, report, isLast) {
      const isKnown = waiting.has(id)
      if (isKnown && waiting.get(id) === undefined) return
      if (isLast || waiting.size >= messagesMax) {
        end(id)
        report()
      } else if (!isKnown) {
        const timer = setTimeout(() => {
          end(id)
          report()
        }, waitMs)
        waiting.set(id, timer.unref())
      }
    },
    opened(id) {
      clearTimeout(waiting.get(id))
      waiting.delete(id)
    },
    close() {
      for (const timer of waiting.values()) clearTimeout(timer)
      waiting.clear()
    },
  }
}
