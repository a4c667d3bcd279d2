import { findWebhook, type Webhook } from '@wagate/db/queries/webhooks/webhooks'
import type { Call } from '../calls/call.ts'
import { AppError } from '../errors/app-error.ts'
import { recordId } from '../parameters/parameter-types.ts'

export const webhookId = recordId.describe('ID from webhooks')

/** Throws `webhook_not_found`. */
export async function getWebhook({ context, principal }: Call, id: number): Promise<Webhook> {
  const webhook = await findWebhook(context.db, principal.accountId, id)
  if (!webhook) throw webhookNotFound()
  return webhook
}

export function webhookNotFound(): AppError {
  return new AppError('webhook_not_found', 'The account has no such webhook.')
}
