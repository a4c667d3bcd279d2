import type { Database } from '@wagate/db/client'
import { findLatestPosition } from '@wagate/db/queries/event-feed'
import { findProxyKey } from '@wagate/db/queries/master-keys'
import { insertWebhook, insertWebhookSecret } from '@wagate/db/queries/webhooks'
import { sealBox } from '@wagate/shared/sealed-box'
import { makeWebhookSecret, webhookSecretContext } from '@wagate/shared/webhook-signature'

/** A webhook for all events from now on. Returns its id. */
export async function addWebhook(
  db: Database,
  accountId: number,
  { url, eventsMax }: { url: string; eventsMax: number },
): Promise<number> {
  const key = await findProxyKey(db)
  if (!key) throw new Error('No worker has started yet')
  const recipient = { id: key.masterKeyId, publicKey: key.publicKey }
  const position = await findLatestPosition(db)
  return db.transaction(async (tx) => {
    const id = await insertWebhook(tx, accountId, { url, name: 'bench', eventsMax }, position)
    const sealed = sealBox(recipient, Buffer.from(makeWebhookSecret()), webhookSecretContext(id))
    await insertWebhookSecret(tx, id, sealed)
    return id
  })
}
