/**
 * As SQL: whether the row of `messages` that has this name in its statement waits to be sent. For a row that is found by its
 * id. With `is_waiting`, which means the same, Postgres may find it through an index of the waiting messages instead, and
 * read all those of its device.
 */
export function isStillWaiting(message: string): string {
  return `${message}.status IN ('queued', 'sending')`
}
