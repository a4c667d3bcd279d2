import { z } from 'zod'
import { messageErrors } from '../message-errors.ts'
import { type MessageStatus, messageStatuses } from '../statuses.ts'
import {
  entriesMax,
  parseTimeline,
  setbackMarks,
  type TimelineEntry,
  timelineMarks,
} from '../timeline-marks.ts'
import { extensibleEnum } from './extensible-enum.ts'
import type { MessageRow } from './message-object.ts'

const step = z.object({
  step: extensibleEnum([...messageStatuses, 'played', 'setback']).describe(
    'Status of the message from then on; `setback`: it could not be sent this time, and is sent again',
  ),
  at: z.iso.datetime(),
  attempt: z
    .int()
    .optional()
    .describe('Number of the attempt to send it, for `sending` and `setback`. Of many, some are left out'),
  reason: extensibleEnum([...Object.keys(setbackMarks), 'taken_over', ...Object.keys(messageErrors)])
    .optional()
    .describe('Reason of a setback, or the `error_code` of a failure'),
})

type Step = z.infer<typeof step>

export const timelineObject = z
  .array(step)
  .describe(
    'What became of the message, in order. Times are of several clocks, so one may be before the last',
  )

export const exampleTimeline: Step[] = [
  { step: 'queued', at: '2026-01-31T12:00:00.000Z' },
  { step: 'sending', at: '2026-01-31T12:00:00.310Z', attempt: 1 },
  { step: 'sent', at: '2026-01-31T12:00:00.412Z' },
  { step: 'delivered', at: '2026-01-31T12:00:01.020Z' },
]

type TimelineRow = MessageRow & { attempts: number; timeline: Uint8Array | null }

export function toTimelineObject(message: TimelineRow): Step[] {
  const entries = parseTimeline(message.timeline, message.createdAt)
  return [
    ...firstSteps(message, entries),
    ...entries.flatMap((entry, index) => toSteps(message, entries, entry, index)),
    ...datedStep('sent', message.sentAt),
    ...datedStep('delivered', message.deliveredAt),
    ...datedStep('read', message.readAt),
    ...datedStep('played', message.playedAt),
  ]
}

function datedStep(name: MessageStatus | 'played', at: Date | null): Step[] {
  return at ? [{ step: name, at: at.toISOString() }] : []
}

function firstSteps({ direction, createdAt, sendAt, status }: MessageRow, entries: TimelineEntry[]): Step[] {
  if (direction === 'in') return datedStep('received', createdAt)
  if (!sendAt) return datedStep('queued', createdAt)
  const [first] = entries
  const isDue = first ? first.at >= sendAt : status !== 'scheduled'
  return [...datedStep('scheduled', createdAt), ...datedStep('queued', isDue ? sendAt : null)]
}

function toSteps(
  message: TimelineRow,
  entries: TimelineEntry[],
  entry: TimelineEntry,
  index: number,
): Step[] {
  const at = entry.at.toISOString()
  const attempt = attemptAt(message.attempts, entries, index)
  switch (entry.mark) {
    case timelineMarks.failed:
      return [{ step: 'failed', at, ...(message.errorCode && { reason: message.errorCode }) }]
    case timelineMarks.canceled:
      return [{ step: 'canceled', at }]
    case timelineMarks.sendingAfterTakeover: {
      const before = entries[index - 1]
      const lost: Step = { step: 'setback', at, attempt: attempt - 1, reason: 'taken_over' }
      return [...(before && isSending(before) ? [lost] : []), { step: 'sending', at, attempt }]
    }
    case timelineMarks.sending:
      return [{ step: 'sending', at, attempt }]
    default:
      return [
        { step: 'setback', at, ...(attempt > 0 && { attempt }), reason: reasons.get(entry.mark) ?? 'other' },
      ]
  }
}

const reasons = new Map<number, string>(Object.entries(setbackMarks).map(([name, mark]) => [mark, name]))

function isSending({ mark }: TimelineEntry): boolean {
  return mark === timelineMarks.sending || mark === timelineMarks.sendingAfterTakeover
}

/** The last entries are counted from the last attempt, because some before them may be left out. */
function attemptAt(attempts: number, entries: TimelineEntry[], index: number): number {
  if (index < entriesMax.first) return entries.slice(0, index + 1).filter(isSending).length
  return attempts - entries.slice(index + 1).filter(isSending).length
}
