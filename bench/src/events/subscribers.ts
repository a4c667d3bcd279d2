import type { Gateway } from '@wagate/test-kit/load/pooled-client'
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

export async function subscribe(way: Way, gateway: Gateway): Promise<Subscriber> {
  if (way === 'no subscriber') return { count: () => undefined, stop: async () => undefined }
  if (way === 'GET /events') {
    const reader = await startEventReader(gateway)
    return { count: () => reader.events.length, stop: reader.stop }
  }
  const target = await openWebhookTarget('healthy')
  const deleteWebhook = await addWebhook(gateway, { url: target.url, eventsMax })
  return {
    count: () => target.events.length,
    async stop() {
      await deleteWebhook()
      target.close()
    },
  }
}
