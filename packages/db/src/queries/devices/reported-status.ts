/*
 * As SQL for a row of `messages` that has the given name in its statement. No row says `scheduled`: a message that is
 * queued for later is reported so until its time has come.
 */

export function isScheduled(message: string): string {
  return `coalesce(${message}.send_at > now(), false)`
}

export function reportedStatus(message: string): string {
  return `CASE WHEN ${message}.status = 'queued' AND ${isScheduled(message)} THEN 'scheduled' ELSE ${message}.status END`
}
