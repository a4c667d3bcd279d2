import { deleteWebhook as remove } from '@wagate/db/queries/webhooks/webhooks'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { webhookFields } from '../objects/webhook-object.ts'
import { webhookId, webhookNotFound } from '../webhooks/get-webhook.ts'

export const deleteWebhook = defineOperation({
  name: 'delete-webhook',
  summary: 'Delete a webhook with its log and what waits to be delivered',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({ webhook_id: webhookId }),
  fields: z.object({ webhook_id: webhookFields.webhook_id, deleted: z.literal(true) }),
  errors: ['webhook_not_found'],
  example: { given: { webhook_id: 5 }, answer: { webhook_id: 5, deleted: true } },
  async handle({ webhook_id }, call) {
    await call.context.db.transaction(async (tx) => {
      if (!(await remove(tx, call.principal.accountId, webhook_id))) throw webhookNotFound()
      await audit(tx, call, { target: `webhook:${webhook_id}`, result: 'deleted' })
    })
    call.context.notify.publishWebhookHint(webhook_id)
    return { webhook_id, deleted: true as const }
  },
})
