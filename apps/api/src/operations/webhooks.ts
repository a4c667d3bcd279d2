import { findWebhookLags } from '@wagate/db/queries/webhooks/webhook-lags'
import { listWebhooks } from '@wagate/db/queries/webhooks/webhooks'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { exampleWebhook, toWebhookObject, webhookFields } from '../objects/webhook-object.ts'

const listedWebhook = z
  .object({
    ...webhookFields,
    lag_seconds: z
      .int()
      .nullable()
      .describe(
        'Age of the oldest event that is not delivered and will be; null without one. With a filter that few events pass, it may be too high',
      ),
  })
  .meta({ id: 'ListedWebhook' })

export const webhooks = defineOperation({
  name: 'webhooks',
  summary: 'Return the webhooks of the account, with the state of their deliveries',
  methods: ['GET'],
  changes: false,
  parameters: z.object({}),
  fields: z.object({ webhooks: z.array(listedWebhook) }),
  example: { given: {}, answer: { webhooks: [{ ...exampleWebhook, lag_seconds: null }] } },
  async handle(_, { context, principal }) {
    const [listed, lags] = await Promise.all([
      listWebhooks(context.db, principal.accountId),
      findWebhookLags(context.readDb, principal.accountId),
    ])
    return {
      webhooks: listed.map((webhook) => ({
        ...toWebhookObject(webhook),
        lag_seconds: lagOf(lags.get(webhook.id)),
      })),
    }
  },
})

function lagOf(seconds: number | undefined): number | null {
  return seconds === undefined ? null : Math.floor(seconds)
}
