import type { MessageFacts } from '@wagate/test-kit/load/records'
import type { Fault } from './faults.ts'

export type Recovery = {
  /** From the signal until a message that was accepted after it was sent, for each sender that the worker had. */
  nextSentMs: number[]
  /** The longest that a message of each of these senders waited. */
  longestWaitMs: number[]
  /** Of these senders, how many sent nothing before the next fault. */
  silent: number
}

/** What a fault did to the senders of the worker that went away. */
export function measureRecovery({ senders, at, endedAt, until }: Fault, messages: MessageFacts[]): Recovery {
  const recovery: Recovery = { nextSentMs: [], longestWaitMs: [], silent: 0 }
  for (const sender of senders) {
    const own = messages.filter((message) => message.sender === sender)
    // What was accepted before may have left already, and its receipt alone may have come late.
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
