import { isBelievable, type Outcome } from '../session/outcomes.ts'

/** Why a connection ended: by the network or by us, or by WhatsApp with a stream error. */
export type ConnectionEnd = 'disconnected' | 'stream_ended'

/** `unanswered`: no answer in time. That and the end of the connection leave open whether the message arrived. */
export type Answer =
  | { kind: 'acknowledged' }
  | { kind: 'refused'; code: string }
  | { kind: 'unanswered' | ConnectionEnd }

/** The messages of one socket that WhatsApp has not answered for. */
export type OnWire = {
  /** Call before the message is sent. */
  expect(message: { waId: string; recipient: string }, timeoutMs: number): Promise<Answer>
  /**
   * False when nothing is expected for this message. A receipt of the recipient counts as well: it cannot have what
   * the server did not take.
   */
  settle(waId: string, outcome: Outcome): boolean
  forget(waId: string): void
  closeAll(end: ConnectionEnd): void
}

export function makeOnWire(): OnWire {
  const expected = new Map<string, { recipient: string; resolve(answer: Answer): void }>()

  function answer(waId: string, given: Answer): boolean {
    expected.get(waId)?.resolve(given)
    return expected.delete(waId)
  }

  return {
    expect: ({ waId, recipient }, timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => answer(waId, { kind: 'unanswered' }), timeoutMs)
        expected.set(waId, {
          recipient,
          resolve(given) {
            clearTimeout(timer)
            resolve(given)
          },
        })
      }),
    settle(waId, outcome) {
      const recipient = expected.get(waId)?.recipient
      if (recipient === undefined || !isBelievable(outcome, recipient)) return false
      return answer(waId, outcome.kind === 'refused' ? outcome : { kind: 'acknowledged' })
    },
    forget: (waId) => void answer(waId, { kind: 'disconnected' }),
    closeAll(end) {
      for (const waId of [...expected.keys()]) answer(waId, { kind: end })
    },
  }
}
