import type { EventPosition } from '@wagate/shared/event-ids'
import type postgres from 'postgres'
import type { Database } from '../../client.ts'

/** What a dispatcher owns. Its writes name both, so that they are refused after another has claimed the webhook. */
export type WebhookLease = { webhookId: number; dispatcher: string; epoch: number }

/** `share`: how many of all webhooks each live dispatcher should own. */
export type OwnedWebhooks = { leases: WebhookLease[]; share: number }

/** Neither the webhook nor its account is disabled. */
const isDelivered = (sql: postgres.Sql) => sql`(webhook.disabled_at IS NULL
  AND NOT EXISTS (SELECT FROM accounts WHERE accounts.id = webhook.account_id AND accounts.disabled_at IS NOT NULL))`

/** One statement for all webhooks of a process: they are owned as long as their dispatcher renews its lease. */
export async function renewDispatcher(db: Database, id: string, leaseMs: number): Promise<OwnedWebhooks> {
  const sql = db.$client
  const rows = await sql<{ webhookId: number | null; epoch: number; share: number }[]>`
    WITH renewed AS (
      INSERT INTO webhook_dispatchers AS dispatcher (id, lease_until)
      VALUES (${id}, now() + ${leaseMs} * interval '1 ms')
      ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until RETURNING dispatcher.id
    ),
    shares AS (
      SELECT ceil((SELECT count(*) FROM webhooks AS webhook WHERE ${isDelivered(sql)})::numeric / (
        SELECT count(*) FROM (
          SELECT id FROM webhook_dispatchers WHERE lease_until > now() UNION SELECT id FROM renewed
        ) AS live))::int AS share
    )
    SELECT share, webhook.id AS "webhookId", webhook.lease_epoch::float8 AS epoch
    FROM shares LEFT JOIN webhooks AS webhook ON webhook.dispatcher = ${id} AND ${isDelivered(sql)}`
  const leases = rows.flatMap(({ webhookId, epoch }) =>
    webhookId === null ? [] : [{ webhookId, dispatcher: id, epoch }],
  )
  return { leases, share: rows[0]?.share ?? 0 }
}

/** Claims up to `limit` webhooks that no live dispatcher owns. From now on, writes of a former dispatcher are refused. */
export async function claimWebhooks(db: Database, id: string, limit: number): Promise<WebhookLease[]> {
  // Compares with dead dispatchers, not with live ones: one that started meanwhile would not be among the live ones.
  const sql = db.$client
  return await sql<WebhookLease[]>`
    WITH dead AS MATERIALIZED (SELECT id FROM webhook_dispatchers WHERE lease_until <= now()),
    free AS MATERIALIZED (
      SELECT id FROM webhooks AS webhook
      WHERE ${isDelivered(sql)} AND (dispatcher IS NULL OR dispatcher IN (SELECT id FROM dead))
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    UPDATE webhooks AS webhook SET dispatcher = ${id}, lease_epoch = webhook.lease_epoch + 1
    FROM free WHERE webhook.id = free.id
    RETURNING webhook.id AS "webhookId", dispatcher, lease_epoch::float8 AS epoch`
}

/** Of those webhooks that this dispatcher still owns. */
export async function listOwnedEpochs(
  db: Database,
  id: string,
  webhookIds: number[],
): Promise<Pick<WebhookLease, 'webhookId' | 'epoch'>[]> {
  const sql = db.$client
  return await sql<Pick<WebhookLease, 'webhookId' | 'epoch'>[]>`
    SELECT id AS "webhookId", lease_epoch::float8 AS epoch FROM webhooks AS webhook
    WHERE id = ANY (${webhookIds}::int[]) AND dispatcher = ${id} AND ${isDelivered(sql)}`
}

/** Leaves those to others that this dispatcher owns. */
export async function releaseWebhooks(db: Database, id: string, webhookIds: number[]): Promise<void> {
  await db.$client`
    UPDATE webhooks SET dispatcher = NULL WHERE dispatcher = ${id} AND id = ANY (${webhookIds}::int[])`
}

/** Leaves its webhooks to others. Call it when nothing is in flight any more. */
export async function unregisterDispatcher(db: Database, id: string): Promise<void> {
  await db.$client`DELETE FROM webhook_dispatchers WHERE id = ${id}`
}

/** Those that died more than a day ago. */
export async function deleteDeadDispatchers(db: Database): Promise<void> {
  await db.$client`DELETE FROM webhook_dispatchers WHERE lease_until < now() - interval '1 day'`
}

export type ClaimedWebhook = {
  id: number
  accountId: number
  url: string
  types: number[] | null
  deviceIds: number[] | null
  eventsMax: number
  position: EventPosition
  isFailing: boolean
  isBacklogFull: boolean
  /** The newest first. In Unix time, Infinity for the present one. */
  secrets: { sealed: Buffer; validUntilSeconds: number }[]
  /** The number of the last attempt in the log. */
  lastAttempt: number
}

/** Undefined when it was deleted or the lease has ended. */
export async function findClaimedWebhook(
  db: Database,
  { webhookId, dispatcher, epoch }: WebhookLease,
): Promise<ClaimedWebhook | undefined> {
  const sql = db.$client
  const [row] = await sql<(Omit<ClaimedWebhook, 'position' | 'secrets'> & EventPosition & StoredSecrets)[]>`
    SELECT id, account_id AS "accountId", url, types, device_ids AS "deviceIds", events_max AS "eventsMax",
      failing_since IS NOT NULL AS "isFailing", backlog_full_since IS NOT NULL AS "isBacklogFull",
      epoch, tx::text, event_id::text AS "eventId", seconds::float8,
      coalesce((SELECT max(number) FROM webhook_attempts WHERE webhook_id = webhook.id), 0)::float8 AS "lastAttempt",
      ARRAY(SELECT encode(sealed, 'base64') FROM webhook_secrets WHERE webhook_id = webhook.id ORDER BY id DESC) AS sealed,
      ARRAY(SELECT extract(epoch FROM coalesce(valid_until, 'infinity'))::float8 FROM webhook_secrets
        WHERE webhook_id = webhook.id ORDER BY id DESC) AS "validUntilSeconds"
    FROM webhooks AS webhook
    WHERE id = ${webhookId} AND dispatcher = ${dispatcher} AND lease_epoch = ${epoch} AND ${isDelivered(sql)}`
  if (!row) return undefined
  const { epoch: eventEpoch, tx, eventId, seconds, sealed, validUntilSeconds, ...webhook } = row
  return {
    ...webhook,
    position: { epoch: eventEpoch, tx, id: eventId, seconds },
    secrets: sealed.map((box, index) => ({
      sealed: Buffer.from(box, 'base64'),
      validUntilSeconds: validUntilSeconds[index] ?? 0,
    })),
  }
}

type StoredSecrets = { eventId: string; sealed: string[]; validUntilSeconds: number[] }
