/** Keeps messages of one sender to one recipient apart. Outlives a connection. */
export type RecipientPace = {
  /** Ms until the next message may leave for this recipient. */
  waitMs(recipient: string): number
  /** A message has left for this recipient. */
  noteSent(recipient: string): void
}

/** Per device. The oldest entries are dropped first, so the next messages to their recipients merely leave sooner. */
const recipientsMax = 10_000

/** `sentMsAgo`: how long ago the latest messages left, by recipient. With an interval of 0 nothing waits. */
export function makeRecipientPace(
  intervalMs: number,
  sentMsAgo: Record<string, number>,
  nowMs: () => number = () => performance.now(),
): RecipientPace {
  /** In the order of the times. */
  const sentAtMs = new Map(
    Object.entries(sentMsAgo)
      .sort(([, one], [, other]) => other - one)
      .map(([recipient, ms]) => [recipient, nowMs() - ms]),
  )

  function dropOldest(): void {
    for (const [recipient, atMs] of sentAtMs) {
      if (sentAtMs.size <= recipientsMax && nowMs() - atMs < intervalMs) return
      sentAtMs.delete(recipient)
    }
  }

  return {
    waitMs(recipient) {
      const atMs = sentAtMs.get(recipient) ?? Number.NEGATIVE_INFINITY
      return Math.max(0, atMs + intervalMs - nowMs())
    },
    noteSent(recipient) {
      sentAtMs.delete(recipient)
      sentAtMs.set(recipient, nowMs())
      dropOldest()
    },
  }
}
