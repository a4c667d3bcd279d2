/** What a sender has sent in the current UTC day, according to Postgres. */
export type SentToday = {
  sent: number
  /** WhatsApp ids of messages that were handed to WhatsApp and have no stored answer. */
  unanswered: string[]
}

/**
 * How many messages a sender has sent in the current UTC day. A message counts from the moment when it may leave, and
 * once however often it is sent again. Without an answer it also counts on the next day, where the answer may come.
 */
export type DayCount = {
  total(): number
  has(waId: string): boolean
  add(waId: string): void
  /** This attempt did not leave. An earlier one still counts. */
  remove(waId: string): void
  /** WhatsApp has answered. */
  confirm(waId: string): void
}

export const dayMs = 86_400_000

export function makeDayCount(known: SentToday, dateMs: () => number): DayCount {
  /** The number of attempts by WhatsApp id. */
  const unanswered = new Map(known.unanswered.map((waId) => [waId, 1]))
  let answered = known.sent
  let day = today()

  function today(): number {
    return Math.floor(dateMs() / dayMs)
  }

  function startNewDay(): void {
    if (today() === day) return
    day = today()
    answered = 0
  }

  return {
    total() {
      startNewDay()
      return answered + unanswered.size
    },
    has: (waId) => unanswered.has(waId),
    add(waId) {
      unanswered.set(waId, (unanswered.get(waId) ?? 0) + 1)
    },
    remove(waId) {
      const attempts = (unanswered.get(waId) ?? 0) - 1
      if (attempts > 0) unanswered.set(waId, attempts)
      else unanswered.delete(waId)
    },
    confirm(waId) {
      startNewDay()
      if (unanswered.delete(waId)) answered += 1
    },
  }
}
