import type { Outcome } from '../session/outcomes.ts'

/** `silence`: no answer in time. `closed`: the socket is gone. Both leave open whether the message arrived. */
export type Answer =
  | { kind: 'acknowledged' }
  | { kind: 'refused'; code: string }
  | { kind: 'silence' | 'closed' }

/** The messages of one socket that WhatsApp has not answered for. */
export type OnWire = {
  /** Call before the message is sent. */
  expect(waId: string, timeoutMs: number): Promise<Answer>
  /** A receipt counts as well: the recipient cannot have what the server did not take. */
  settle(waId: string, outcome: Outcome): void
  forget(waId: string): void
  closeAll(): void
}

export function makeOnWire(): OnWire {
  const expected = new Map<string, (answer: Answer) => void>()

  function answer(waId: string, given: Answer): void {
    expected.get(waId)?.(given)
    expected.delete(waId)
  }

  return {
    expect: (waId, timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => answer(waId, { kind: 'silence' }), timeoutMs)
        expected.set(waId, (given) => {
          clearTimeout(timer)
          resolve(given)
        })
      }),
    settle: (waId, outcome) => answer(waId, outcome.kind === 'refused' ? outcome : { kind: 'acknowledged' }),
    forget: (waId) => answer(waId, { kind: 'closed' }),
    closeAll() {
      for (const waId of [...expected.keys()]) answer(waId, { kind: 'closed' })
    },
  }
}
