import { eventTypes } from '@wagate/shared/event-types'
import type { Database } from '../../client.ts'

/** How many events are read for a filter that few of them pass. */
const scannedMax = 2000

/**
 * Age of the oldest event that each webhook of the account has still to deliver, in seconds. Webhooks that have delivered
 * everything are left out. If none of the next 2000 events passes the filter, the age of the last of them: those that
 * follow are not older.
 */
export async function findWebhookLags(db: Database, accountId: number): Promise<Map<number, number>> {
  const rows = await db.$client<{ webhookId: number; seconds: number }[]>`
    SELECT webhook.id AS "webhookId", greatest(0, extract(epoch FROM now()) - least(stream.since, stored.since))::float8 AS seconds
    FROM webhooks AS webhook
    CROSS JOIN LATERAL (
      SELECT extract(epoch FROM coalesce(
        min(created_at) FILTER (WHERE is_wanted), CASE WHEN count(*) = ${scannedMax} THEN max(created_at) END
      )) AS since
      FROM (
        SELECT created_at, type <> ${eventTypes['webhook.test']} AND (webhook.types IS NULL OR type = ANY (webhook.types))
          AND (webhook.device_ids IS NULL OR device_id = ANY (webhook.device_ids)) AS is_wanted
        FROM events
        WHERE account_id = webhook.account_id AND (epoch, tx, id) > (webhook.epoch, webhook.tx, webhook.event_id)
          -- Limits the partitions. A transaction records the time at which it began.
          AND created_at >= to_timestamp(webhook.seconds) - interval '1 day' AND created_at < now() + interval '1 day'
        ORDER BY epoch, tx, id LIMIT ${scannedMax}
      ) AS scanned
    ) AS stream
    LEFT JOIN LATERAL (
      -- Requests are stored in the order of their events. An id of an event ends with its time.
      SELECT ('x' || right(event_ids[1], 8))::bit(32)::bigint::numeric AS since FROM webhook_deliveries
      WHERE webhook_id = webhook.id AND next_attempt_at IS NOT NULL ORDER BY id LIMIT 1
    ) AS stored ON true
    WHERE webhook.account_id = ${accountId} AND least(stream.since, stored.since) IS NOT NULL`
  return new Map(rows.map(({ webhookId, seconds }) => [webhookId, seconds]))
}
