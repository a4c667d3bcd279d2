import { parseEventId } from '@wagate/shared/event-ids'
import { z } from 'zod'

/** A position in the stream of events. */
export const eventCursor = z
  .string()
  .transform((value, issues) => {
    const position = value === 'latest' ? value : parseEventId(value)
    if (position !== undefined) return position
    issues.addIssue({
      code: 'custom',
      message: 'must be `next` of an earlier answer, an event_id, or latest',
    })
    return z.NEVER
  })
  .meta({ title: 'cursor' })
