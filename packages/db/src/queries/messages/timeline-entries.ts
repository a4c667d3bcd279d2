import { entriesMax, entryBytes, timelineMarks } from '@wagate/shared/timeline-marks'

const firstBytes = entriesMax.first * entryBytes
const bytesMax = firstBytes + entriesMax.last * entryBytes

/**
 * As SQL: the timeline of the row of `messages` that has this name in its statement, with a further entry for what happens
 * now. Of many entries, the first and the last are kept. Part of the statement that makes the change.
 */
export function withEntry(message: string, mark: keyof typeof timelineMarks | { sql: string }): string {
  const timeline = `${message}.timeline`
  const number = typeof mark === 'string' ? timelineMarks[mark] : mark.sql
  const kept = `CASE WHEN octet_length(${timeline}) >= ${bytesMax}
    THEN substring(${timeline} FOR ${firstBytes}) || substring(${timeline} FROM ${firstBytes + entryBytes + 1})
    ELSE coalesce(${timeline}, '') END`
  const hundredths = `least(greatest(extract(epoch FROM now() - ${message}.created_at) * 100, 0), 4294967295)::bigint`
  return `${kept} || substring(int8send(((${number})::bigint << 32) + ${hundredths}) FROM ${9 - entryBytes})`
}
