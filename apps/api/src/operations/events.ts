import type { EventPage } from '@wagate/db/queries/events/event-feed'
import { formatEventId } from '@wagate/shared/event-ids'
import { eventTypeNames, eventTypes } from '@wagate/shared/event-types'
import { eventObject, exampleEventOf, toEventObject } from '@wagate/shared/objects/event-object'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { untilReadableMs } from '../events/event-wakes.ts'
import { pollUntil } from '../events/poll-until.ts'
import { eventCursor } from '../parameters/event-cursor.ts'
import { eventTypeList, integer, recordId } from '../parameters/parameter-types.ts'

const eventsMax = 100
const waitSecondsMax = 25
const exampleEvent = exampleEventOf('message.delivered')

export const events = defineOperation({
  name: 'events',
  summary: 'Return what has happened, oldest first, from a cursor on',
  methods: ['GET'],
  changes: false,
  parameters: z.object({
    after: eventCursor
      .optional()
      .describe(
        '`next` of the previous answer, or an `event_id`: only events that follow it. `latest`: only events from now on. Without it, from the oldest event that is kept',
      ),
    limit: integer(1, eventsMax).optional().describe(`Page size, ${eventsMax} by default`),
    types: eventTypeList
      .optional()
      .describe(`Only events of these types, separated by commas: ${eventTypeNames.join(', ')}`),
    device_id: recordId.optional().describe('Only events of this device'),
    wait: integer(0, waitSecondsMax)
      .optional()
      .describe(
        'Seconds to wait for an event if there is none yet. Ignored, with a warning, while 50 requests of the account are waiting',
      ),
  }),
  fields: z.object({
    events: z.array(eventObject),
    next: z
      .string()
      .describe(
        'Value of `after` for the next request, also when there was no event. Store it with what you made of the events',
      ),
    has_more: z
      .boolean()
      .describe(
        'There may be more events already. With a filter, a page may be short or empty and still have more',
      ),
  }),
  errors: ['cursor_expired'],
  example: {
    given: { after: exampleEvent.event_id, limit: 1, wait: 20 },
    answer: { events: [exampleEvent], next: exampleEvent.event_id, has_more: false },
  },
  async handle({ after, limit = eventsMax, types, device_id, wait = 0 }, call) {
    const { context, principal, deadline } = call
    const { feed } = context.events
    let position = await feed.start(after)
    let page: EventPage | undefined
    const find = async () => {
      page = await feed.read(
        principal.accountId,
        { after: position, limit, types: types?.map((type) => eventTypes[type]), deviceId: device_id },
        deadline.signal,
      )
      position = page.next
      return page.hasMore || page.events.length > 0 ? page : undefined
    }
    const end = wait > 0 ? feed.beginWait(principal.accountId) : undefined
    const { inbox, leave } = feed.wakes.join(principal.accountId)
    if (wait > 0 && !end) call.warn('wait was ignored: too many requests are already waiting.')
    try {
      if (end) deadline.extend(wait * 1000)
      await pollUntil(find, {
        inbox,
        againAfterMs: untilReadableMs,
        forMs: end ? wait * 1000 : 0,
        abort: AbortSignal.any([context.closing, deadline.signal, call.request.findDisconnect()]),
      })
    } finally {
      leave()
      end?.()
    }
    const linkTo = await context.media.links.getLinker()
    return {
      events: page?.events.map((event) => toEventObject(event, linkTo)) ?? [],
      next: formatEventId(position),
      has_more: page?.hasMore ?? false,
    }
  },
})
