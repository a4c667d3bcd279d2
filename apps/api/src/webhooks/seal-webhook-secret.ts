import { findProxyKey } from '@wagate/db/queries/credentials/master-keys'
import { sealBox } from '@wagate/shared/sealed-box'
import { webhookSecretContext } from '@wagate/shared/webhook-signature'
import type { Call } from '../calls/call.ts'
import { AppError } from '../errors/app-error.ts'

/** Returns the function that encrypts the secret of a webhook so that only workers can read it. Throws `unavailable`. */
export async function makeSecretSealer({ context: { db } }: Call) {
  const key = await findProxyKey(db)
  if (!key) {
    throw new AppError('unavailable', 'No worker has started yet, so a secret cannot be stored.', {
      retryAfterSeconds: 5,
    })
  }
  const recipient = { id: key.masterKeyId, publicKey: key.publicKey }
  return (secret: string, webhookId: number) =>
    sealBox(recipient, Buffer.from(secret), webhookSecretContext(webhookId))
}
