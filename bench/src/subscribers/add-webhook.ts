import type { Gateway } from '@wagate/test-kit/load/pooled-client'

/** A webhook for events from now on, of all types by default. Returns the function that deletes it. */
export async function addWebhook(
  gateway: Gateway,
  { url, eventsMax, types }: { url: string; eventsMax: number; types?: string },
): Promise<() => Promise<void>> {
  const given = { url, events_max: eventsMax, ...(types && { types }) }
  const { status, body } = await gateway.call('set-webhook', given)
  if (status !== 200) throw new Error(`No webhook: ${body.code}`)
  const { webhook_id } = body
  return async () => void (await gateway.call('delete-webhook', { webhook_id }))
}
