import type { MessageFacts } from '@wagate/test-kit/load/records'

/** The longest time in which this sender had something to send and sent nothing, of what it sent after `sinceMs`. */
export function longestGapMs(messages: MessageFacts[], sender: string, sinceMs: number): number {
  const sent = messages
    .filter((message) => message.sender === sender)
    .map(({ createdAtMs, sentAtMs }) => ({ createdAtMs, sentAtMs: sentAtMs ?? Number.NEGATIVE_INFINITY }))
    .filter(({ sentAtMs }) => sentAtMs > sinceMs)
    .sort((a, b) => a.sentAtMs - b.sentAtMs)
  const gapsMs = sent.map(({ createdAtMs, sentAtMs }, index) => {
    return sentAtMs - Math.max(createdAtMs, sent[index - 1]?.sentAtMs ?? sinceMs)
  })
  return Math.max(...gapsMs)
}

/** Messages a second from the first that was sent after `sinceMs` until no more than `restMax` waited. */
export function drainPerSecond(messages: MessageFacts[], sinceMs: number, restMax: number): number {
  const created = messages.map(({ createdAtMs }) => createdAtMs).sort((a, b) => a - b)
  const sent = messages.map(({ sentAtMs }) => sentAtMs ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b)
  const first = sent.findIndex((atMs) => atMs > sinceMs)
  const last = sent.findIndex((atMs, index) => {
    return index > first && created.filter((createdAtMs) => createdAtMs <= atMs).length - index <= restMax
  })
  return (1000 * (last - first)) / ((sent[last] ?? Number.NaN) - (sent[first] ?? Number.NaN))
}
