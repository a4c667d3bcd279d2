import { rotateWebhookSecret as rotate } from '@wagate/db/queries/webhooks/webhooks'
import { makeWebhookSecret } from '@wagate/shared/webhook-signature'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { AppError } from '../errors/app-error.ts'
import { webhookFields } from '../objects/webhook-object.ts'
import { integer } from '../parameters/parameter-types.ts'
import { webhookId, webhookNotFound } from '../webhooks/get-webhook.ts'
import { makeSecretSealer } from '../webhooks/seal-webhook-secret.ts'

const hourMs = 3_600_000

export const rotateWebhookSecret = defineOperation({
  name: 'rotate-webhook-secret',
  summary: 'Replace the secret of a webhook; requests carry the signatures of both for a while',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    webhook_id: webhookId,
    overlap_hours: integer(0, 168)
      .optional()
      .describe(
        'Hours for which the former secret signs as well, 24 by default. Until they are over, only a rotation with 0 is possible, which ends all former secrets at once',
      ),
  }),
  fields: z.object({
    webhook_id: webhookFields.webhook_id,
    secret: z.string().describe('New secret, shown once'),
  }),
  errors: ['webhook_not_found', 'former_secret_valid'],
  example: { given: { webhook_id: 5 }, answer: { webhook_id: 5, secret: 'whsec_…' } },
  async handle({ webhook_id, overlap_hours = 24 }, call) {
    const seal = await makeSecretSealer(call)
    const secret = makeWebhookSecret()
    const change = { sealed: seal(secret, webhook_id), overlapMs: overlap_hours * hourMs }
    await call.context.db.transaction(async (tx) => {
      const outcome = await rotate(tx, call.principal.accountId, webhook_id, change)
      if (outcome === 'unknown') throw webhookNotFound()
      if (outcome === 'overlapping') throw stillOverlapping()
      await audit(tx, call, { target: `webhook:${webhook_id}`, result: 'rotated' })
    })
    call.context.notify.publishWebhookHint(webhook_id)
    return { webhook_id, secret }
  },
})

function stillOverlapping(): AppError {
  return new AppError(
    'former_secret_valid',
    'A former secret of this webhook still signs. Wait until it ends, or end all former secrets with overlap_hours=0.',
  )
}
