/** What a sender has sent in the present day of UTC, by what is stored. */
export type SentToday = {
  sent: number
  /** WhatsApp ids of those that were handed to WhatsApp and have no answer that is stored. */
  unanswered: string[]
}

/**
 * How many messages a sender has sent in the present day of UTC. One counts from the moment it may leave, and once
 * however often it is sent again; without an answer it counts in the next day as well, where the answer may come.
 */
export type DayCount = {
  total(): number
  has(waId: string): boolean
  add(waId: string): void
  /** This attempt did not leave. An earlier one still counts. */
  remove(waId: string): void
  /** WhatsApp has answered. */
  settle(waId: string): void
}

export const dayMs = 86_400_000

export function makeDayCount(known: SentToday, dateMs: () => number): DayCount {
  /** With the number of attempts. */
  const unanswered = new Map(known.unanswered.map((waId) => [waId, 1]))
  let answered = known.sent
  let day = today()

  function today(): number {
    return Math.floor(dateMs() / dayMs)
  }

  function turnPage(): void {
    if (today() === day) return
    day = today()
    answered = 0
  }

  return {
    total() {
      turnPage()
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
    settle(waId) {
      turnPage()
      if (unanswered.delete(waId)) answered += 1
    },
  }
}
