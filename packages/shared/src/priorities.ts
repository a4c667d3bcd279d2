/** What leaves first, in this order. In Postgres and in workers, a priority is its place in this list. */
export const priorities = ['high', 'normal', 'bulk'] as const
export type Priority = (typeof priorities)[number]

export const placeOf = (priority: Priority): number => priorities.indexOf(priority)
export const normalPriority = placeOf('normal')

/** What is urgent is of no use later. */
export const highExpirySeconds = 900
