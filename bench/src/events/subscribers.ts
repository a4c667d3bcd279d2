import type { Database } from '@wagate/db/client'
import { deleteWebhook } from '@wagate/db/queries/webhooks'
import type { System } from '@wagate/test-kit/system'
import { addWebhook } from '../subscribers/add-webhook.ts'
import { startEventReader } from '../subscribers/event-reader.ts'
import { openWebhookTarget } from '../subscribers/webhook-target.ts'

export const ways = ['no subscriber', 'GET /events', 'webhook'] as const
export type Way = (typeof ways)[number]

export type Subscriber = {
  /** How many events it has. Undefined without a subscriber. */
  count(): number | undefined
  stop(): Promise<void>
}

/** Of each request to a webhook. */
export const eventsMax = 100

type Account = { db: Database; accountId: number }

export async function subscribe(
  way: Way,
  { gateway }: System,
  { db, accountId }: Account,
): Promise<Subscriber> {
  if (way === 'no subscriber') return { count: () => undefined, stop: async () => undefined }
  if (way === 'GET /events') {
    const reader = await startEventReader(gateway)
    return { count: () => reader.events.length, stop: reader.stop }
  }
  const target = await openWebhookTarget('healthy')
  const id = await addWebhook(db, accountId, { url: target.url, eventsMax })
  return {
    count: () => target.events.length,
    async stop() {
      await deleteWebhook(db, accountId, id)
      target.close()
    },
  }
}
