const dayMs = 86_400_000

/** UTC days since 1970. */
export function utcDayOf(dateMs: number): number {
  return Math.floor(dateMs / dayMs)
}

export function startOfUtcDay(day: number): Date {
  return new Date(day * dayMs)
}

/** The budget of a sender. `perDay` 0 is unlimited, `warmUpDays` 0 is no warm-up. */
export type NewContactBudget = {
  perDay: number
  warmUpDays: number
  /** The first day of the warm-up, in UTC days. */
  warmUpDay: number
}

/**
 * How many new contacts a sender may write to on this UTC day: on day n of the warm-up, n parts of the budget divided by
 * the days of the warm-up, rounded up.
 */
export function newContactsAllowed({ perDay, warmUpDays, warmUpDay }: NewContactBudget, day: number): number {
  if (perDay === 0) return Number.POSITIVE_INFINITY
  const dayOfWarmUp = Math.max(1, day - warmUpDay + 1)
  return dayOfWarmUp >= warmUpDays ? perDay : Math.ceil((perDay * dayOfWarmUp) / warmUpDays)
}
