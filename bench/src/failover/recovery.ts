import type { MessageFacts } from '@wagate/test-kit/load/records'
import type { Fault } from './faults.ts'

export type Recovery = {
  /** For each sender of the worker: from the signal until the first message accepted after it was sent. */
  nextSentMs: number[]
  /** The longest wait of a message, for each of these senders. */
  longestWaitMs: number[]
  /** How many of these senders sent nothing before the next fault. */
  silent: number
}

/** The effect of a fault on the senders of the worker. */
export function measureRecovery({ senders, at, endedAt, until }: Fault, messages: MessageFacts[]): Recovery {
  const recovery: Recovery = { nextSentMs: [], longestWaitMs: [], silent: 0 }
  for (const sender of senders) {
    const own = messages.filter((message) => message.sender === sender)
    // Messages accepted before may have been sent already, with only their receipts late.
    const sent = own.flatMap(({ createdAtMs, sentAtMs }) =>
      createdAtMs > endedAt && sentAtMs !== null && sentAtMs <= until ? [sentAtMs] : [],
    )
    if (sent.length === 0) recovery.silent += 1
    else recovery.nextSentMs.push(Math.min(...sent) - at)
    const waits = own
      .filter(({ createdAtMs }) => createdAtMs > at - 1000 && createdAtMs <= until)
      .map(({ createdAtMs, sentAtMs }) => (sentAtMs ?? until) - createdAtMs)
    if (waits.length > 0) recovery.longestWaitMs.push(Math.max(...waits))
  }
  return recovery
}
