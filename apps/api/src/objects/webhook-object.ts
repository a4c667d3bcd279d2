import type { Webhook } from '@wagate/db/queries/webhooks/webhooks'
import { eventTypeOf } from '@wagate/shared/event-types'
import { extensibleEnum } from '@wagate/shared/objects/extensible-enum'
import { webhookDisabledReasons } from '@wagate/shared/statuses'
import { z } from 'zod'

export const webhookFields = {
  webhook_id: z.int(),
  url: z.string(),
  name: z.string(),
  types: z.array(z.string()).nullable().describe('Types of events that it gets; null means all'),
  device_ids: z.array(z.int()).nullable().describe('Devices whose events it gets; null means all'),
  events_max: z.int().describe('Events in one request. With more than 1, the body is a list'),
  state: extensibleEnum(['active', 'failing', 'disabled']).describe(
    '`failing`: the latest request failed, and is repeated',
  ),
  disabled_reason: extensibleEnum(webhookDisabledReasons)
    .nullable()
    .describe('`gone`: the target answered 410. `failing`: nothing but failures for five days'),
  disabled_at: z.iso.datetime().nullable(),
  failing_since: z.iso.datetime().nullable(),
  backlog_full_since: z.iso
    .datetime()
    .nullable()
    .describe('Since when no further events are delivered, because too many requests wait to be repeated'),
  last_success_at: z.iso.datetime().nullable().describe('When the target last took a request'),
  last_failure_at: z.iso.datetime().nullable().describe('When a request last failed'),
  waiting: z.int().describe('Failed requests that will be repeated'),
  failed: z.int().describe('Requests that will not be repeated, because all attempts failed'),
  created_at: z.iso.datetime(),
}

const webhookObject = z.object(webhookFields).meta({ id: 'Webhook' })

type WebhookObject = z.infer<typeof webhookObject>

export const exampleWebhook: WebhookObject = {
  webhook_id: 5,
  url: 'https://shop.example.com/whatsapp',
  name: 'Shop',
  types: ['message.received'],
  device_ids: null,
  events_max: 1,
  state: 'active',
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  backlog_full_since: null,
  last_success_at: '2026-01-31T12:00:01.000Z',
  last_failure_at: null,
  waiting: 0,
  failed: 0,
  created_at: '2026-01-31T11:50:00.000Z',
}

export function toWebhookObject(webhook: Webhook): WebhookObject {
  const { disabledAt, failingSince, backlogFullSince, lastSuccessAt, lastFailureAt } = webhook
  return {
    webhook_id: webhook.id,
    url: webhook.url,
    name: webhook.name,
    types: webhook.types?.map((type) => eventTypeOf(type) ?? 'other') ?? null,
    device_ids: webhook.deviceIds,
    events_max: webhook.eventsMax,
    state: disabledAt ? 'disabled' : failingSince ? 'failing' : 'active',
    disabled_reason: webhook.disabledReason,
    disabled_at: disabledAt?.toISOString() ?? null,
    failing_since: failingSince?.toISOString() ?? null,
    backlog_full_since: backlogFullSince?.toISOString() ?? null,
    last_success_at: lastSuccessAt?.toISOString() ?? null,
    last_failure_at: lastFailureAt?.toISOString() ?? null,
    waiting: webhook.waiting,
    failed: webhook.failed,
    created_at: webhook.createdAt.toISOString(),
  }
}
