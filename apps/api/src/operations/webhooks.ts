import { listWebhooks } from '@wagate/db/queries/webhooks'
import { z } from 'zod'
import { exampleWebhook, toWebhookObject, webhookObject } from '../objects/webhook-object.ts'
import { defineOperation } from '../operation.ts'

export const webhooks = defineOperation({
  name: 'webhooks',
  summary: 'Return the webhooks of the account, with the state of their deliveries',
  methods: ['GET'],
  changes: false,
  parameters: z.object({}),
  fields: z.object({ webhooks: z.array(webhookObject) }),
  example: { given: {}, answer: { webhooks: [exampleWebhook] } },
  handle: async (_, { context, principal }) => ({
    webhooks: (await listWebhooks(context.db, principal.accountId)).map(toWebhookObject),
  }),
})
