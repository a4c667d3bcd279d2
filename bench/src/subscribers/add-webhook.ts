import type { Database } from '@wagate/db/client'
import { findLatestPosition } from '@wagate/db/queries/event-feed'
import { findProxyKey } from '@wagate/db/queries/master-keys'
import { insertWebhook, insertWebhookSecret } from '@wagate/db/queries/webhooks'
import { type EventType, eventTypes } from '@wagate/shared/event-types'
import { sealBox } from '@wagate/shared/sealed-box'
import { makeWebhookSecret, webhookSecretContext } from '@wagate/shared/webhook-signature'

/** A webhook for events from now on, of all types by default. Returns its id. */
export async function addWebhook(
  db: Database,
  accountId: number,
  { url, eventsMax, types }: { url: string; eventsMax: number; types?: EventType[] },
): Promise<number> {
  const key = await findProxyKey(db)
  if (!key) throw new Error('No worker has started yet')
  const recipient = { id: key.masterKeyId, publicKey: key.publicKey }
  const position = await findLatestPosition(db)
  return db.transaction(async (tx) => {
    const settings = { url, name: 'bench', eventsMax, types: types?.map((type) => eventTypes[type]) ?? null }
    const id = await insertWebhook(tx, accountId, settings, position)
    const sealed = sealBox(recipient, Buffer.from(makeWebhookSecret()), webhookSecretContext(id))
    await insertWebhookSecret(tx, id, sealed)
    return id
  })
}
