import {
  listPositionsBetween,
  replayEvents,
  replayFailedDeliveries,
  waitingDeliveriesMax,
} from '@wagate/db/queries/webhooks/webhook-deliveries'
import { parseEventId } from '@wagate/shared/event-ids'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit, namesOf } from '../changes/audit.ts'
import { AppError } from '../errors/app-error.ts'
import { webhookFields } from '../objects/webhook-object.ts'
import { flag, moment } from '../parameters/parameter-types.ts'
import { getWebhook, webhookId, webhookNotFound } from '../webhooks/get-webhook.ts'

const eventsMax = 1000

export const replayWebhook = defineOperation({
  name: 'replay-webhook',
  summary: 'Deliver one event, the events of a time range, or all requests that failed, again to a webhook',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    webhook_id: webhookId,
    event_id: z
      .string()
      .refine((text) => parseEventId(text) !== undefined, 'must be an event_id')
      .optional()
      .describe('Event to deliver again'),
    from: moment
      .optional()
      .describe('Start of the time range; only events that the webhook wants are delivered'),
    to: moment.optional().describe('End of the time range, by default now'),
    failed: flag.optional().describe('true: all requests that are no longer repeated, instead'),
  }),
  fields: z.object({
    webhook_id: webhookFields.webhook_id,
    replayed: z
      .int()
      .describe('Requests that were added; an event that waits for this webhook already is not added again'),
  }),
  errors: ['missing_parameter', 'webhook_not_found', 'queue_full'],
  example: {
    given: { webhook_id: 5, from: '2026-01-31T11:00:00Z', to: '2026-01-31T12:00:00Z' },
    answer: { webhook_id: 5, replayed: 42 },
  },
  async handle({ webhook_id, event_id, from, to, failed = false }, call) {
    const { db, readDb, notify } = call.context
    const { accountId } = call.principal
    if ([event_id, from, failed || undefined].filter((way) => way !== undefined).length !== 1) {
      throw new AppError('missing_parameter', 'Give one of event_id, from, and failed=true.', {
        details: [{ parameter: 'event_id', message: 'or from or failed is required, and only one of them' }],
      })
    }
    const limit = event_id === undefined ? 'replays' : 'eventReplays'
    await call.charge({ limit, key: String(accountId) })
    const webhook = await getWebhook(call, webhook_id)
    const range = from && { from, to: to ?? new Date(), limit: eventsMax + 1 }
    const event = parseEventId(event_id ?? '')
    const positions = range
      ? await listPositionsBetween(readDb, accountId, webhook, range)
      : event
        ? [event]
        : []
    if (positions.length > eventsMax) {
      throw new AppError('invalid_parameter', `The time range has more than ${eventsMax} events. Shorten it.`)
    }
    const replayed = await db.transaction(async (tx) => {
      const count = failed
        ? await replayFailedDeliveries(tx, accountId, webhook_id)
        : await replayEvents(tx, accountId, webhook_id, positions)
      if (count === 'unknown') throw webhookNotFound()
      if (count === 'full') throw tooManyWaiting()
      const detail = { parameters: namesOf({ event_id, from, to, failed: failed || undefined }) }
      const entry = { target: `webhook:${webhook_id}`, result: 'replayed', detail }
      if (count > 0) await audit(tx, call, entry)
      return count
    })
    notify.publishWebhookHint(webhook_id)
    return { webhook_id, replayed }
  },
})

function tooManyWaiting(): AppError {
  return new AppError(
    'queue_full',
    `More than ${waitingDeliveriesMax} requests wait for this webhook. Replay once it has received them.`,
    { retryAfterSeconds: 60 },
  )
}
