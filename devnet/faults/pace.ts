import type { MessageFacts } from '../src/harness/records.ts'

const longAgoMs = Number.NEGATIVE_INFINITY

/** The longest time in which this sender sent nothing, from `sinceMs` to its last message. */
export function longestGapMs(messages: MessageFacts[], sender: string, sinceMs: number): number {
  const sent = messages
    .filter((message) => message.sender === sender)
    .map(({ sentAtMs }) => sentAtMs ?? longAgoMs)
    .filter((atMs) => atMs > sinceMs)
    .sort((a, b) => a - b)
  return Math.max(...sent.map((atMs, index) => atMs - (sent[index - 1] ?? sinceMs)))
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
