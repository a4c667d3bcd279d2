import { isDeepStrictEqual } from 'node:util'
import type { AuditDetail } from '@wagate/db/queries/accounts/audit-log'
import { findLatestPosition } from '@wagate/db/queries/events/event-feed'
import {
  findWebhook,
  hasRoomForWebhook,
  insertWebhook,
  insertWebhookSecret,
  setWebhookEnabled,
  updateWebhook,
  type Webhook,
  type WebhookSettings,
} from '@wagate/db/queries/webhooks/webhooks'
import { eventTypes } from '@wagate/shared/event-types'
import { isForbiddenHost } from '@wagate/shared/public-hosts'
import { makeWebhookSecret } from '@wagate/shared/webhook-signature'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit, namesOf } from '../changes/audit.ts'
import { findIdempotencyKey, idempotencyKeyParameter } from '../changes/idempotency-key.ts'
import { changeIdempotently } from '../changes/idempotent-change.ts'
import { AppError } from '../errors/app-error.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import { exampleWebhook, toWebhookObject, webhookFields } from '../objects/webhook-object.ts'
import { flag } from '../parameters/parameter-types.ts'
import { getWebhook, webhookId, webhookNotFound } from '../webhooks/get-webhook.ts'
import { makeSecretSealer } from '../webhooks/seal-webhook-secret.ts'
import { checkDevices, webhookParameters } from '../webhooks/webhook-parameters.ts'

const webhooksMax = 20

export const setWebhook = defineOperation({
  name: 'set-webhook',
  summary: 'Create a webhook, or change the one with this webhook_id and enable it',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    webhook_id: webhookId
      .optional()
      .describe('ID of the webhook to change; without it, a new one is created'),
    url: z
      .string()
      .optional()
      .describe(
        'Target of the requests: https, or http if the operator allows it. Required for a new webhook',
      ),
    ...webhookParameters,
    enabled: flag.optional().describe('false: nothing is delivered until it is enabled. true by default'),
    idempotency_key: idempotencyKeyParameter,
  }),
  fields: z.object({
    ...webhookFields,
    secret: z
      .string()
      .optional()
      .describe('Verifies signatures. Returned once, when the webhook is created; omitted on a replay'),
  }),
  errors: ['missing_parameter', 'device_not_found', 'webhook_not_found', 'webhook_limit_reached'],
  example: {
    given: { url: exampleWebhook.url, name: 'Shop', types: 'message.received' },
    answer: { ...exampleWebhook, secret: 'whsec_…' },
  },
  async handle({ webhook_id, url, enabled = true, idempotency_key, ...given }, call) {
    const { context, principal } = call
    const { accountId } = principal
    const key = findIdempotencyKey(call, idempotency_key)
    const settings = {
      ...(url !== undefined && { url: parseWebhookUrl(url, context.config.webhooks) }),
      ...(given.name !== undefined && { name: given.name }),
      ...(given.types !== undefined && { types: given.types?.map((type) => eventTypes[type]) ?? null }),
      ...(given.device_ids !== undefined && { deviceIds: given.device_ids }),
      ...(given.events_max !== undefined && { eventsMax: given.events_max }),
    }
    if (webhook_id === undefined && settings.url === undefined) throw urlMissing()
    await checkDevices(call, given.device_ids)
    const seal = await makeSecretSealer(call)
    const secret = makeWebhookSecret()
    const position = await findLatestPosition(context.db)
    const payload = { webhook_id, settings, enabled }

    const { response, isReplay } = await changeIdempotently(call, { key, payload }, async (tx) => {
      let id = webhook_id
      const before = id === undefined ? undefined : await findWebhook(tx, accountId, id)
      if (id !== undefined) {
        if (!before) throw webhookNotFound()
        await updateWebhook(tx, accountId, id, settings)
      } else {
        if (!(await hasRoomForWebhook(tx, accountId, webhooksMax))) throw limitReached()
        id = await insertWebhook(tx, accountId, { name: 'default', url: '', ...settings }, position)
        await insertWebhookSecret(tx, id, seal(secret, id))
      }
      await setWebhookEnabled(tx, accountId, id, enabled)
      const detail = detailOf(settings, enabled, before)
      if (detail) {
        await audit(tx, call, { target: `webhook:${id}`, result: before ? 'changed' : 'created', detail })
      }
      return { webhook_id: id }
    })
    context.notify.publishWebhookHint(response.webhook_id)
    const shown = toWebhookObject(await getWebhook(call, response.webhook_id))
    if (isPlain(shown.url) && !context.config.webhooks.allowsHttp) call.warn(plainUrl)
    if (webhook_id !== undefined) return shown
    if (!isReplay) return { ...shown, secret }
    call.warn('The secret was returned in the first response only.')
    return shown
  },
})

const plainUrl =
  'The URL has http, so the texts of messages are sent in plain form. New URLs need https: set one with url.'

/** What differs from before. Undefined if nothing does. The path of a URL may contain a secret. */
function detailOf(
  settings: Partial<WebhookSettings>,
  enabled: boolean,
  before: Webhook | undefined,
): AuditDetail | undefined {
  const wanted = { ...settings, enabled }
  const present = before && { ...before, enabled: before.disabledAt === null }
  const changed = namesOf(wanted).filter(
    (name) => !isDeepStrictEqual(wanted[name as keyof typeof wanted], present?.[name as keyof typeof wanted]),
  )
  if (changed.length === 0) return undefined
  const origin = changed.includes('url') && settings.url ? new URL(settings.url).origin : undefined
  const parameterOf: Record<string, string> = { deviceIds: 'device_ids', eventsMax: 'events_max' }
  return { parameters: changed.map((name) => parameterOf[name] ?? name), ...(origin && { origin }) }
}

function urlMissing(): AppError {
  const message = 'is required for a new webhook'
  return new AppError('missing_parameter', `url ${message}`, { details: [{ parameter: 'url', message }] })
}

function limitReached(): AppError {
  return new AppError(
    'webhook_limit_reached',
    `The account has ${webhooksMax} webhooks. Delete one first, or change one with its webhook_id.`,
  )
}

const charactersMax = 2048

type AllowedUrls = { allowsPrivateHosts: boolean; allowsHttp: boolean }

/** Checks it without resolving its host: each delivery checks the address. Throws `invalid_parameter`. */
function parseWebhookUrl(text: string, allowed: AllowedUrls): string {
  const url = text.length <= charactersMax && URL.canParse(text) ? new URL(text) : undefined
  const message = url ? refusalOf(url, allowed) : `must be a URL of up to ${charactersMax} characters`
  if (url && !message) return url.href
  throw invalidParameter('url', String(message))
}

/** Texts of messages must not cross the internet in plain form. */
const isPlain = (url: string) => url.startsWith('http:')

function refusalOf(
  { protocol, username, password, hostname }: URL,
  { allowsPrivateHosts, allowsHttp }: AllowedUrls,
) {
  if (protocol !== 'https:' && !(allowsHttp && protocol === 'http:'))
    return allowsHttp ? 'must begin with https:// or http://' : 'must begin with https://'
  if (username || password) return 'must not contain a user name or password'
  if (!allowsPrivateHosts && isForbiddenHost(hostname)) return 'must not point to a private address'
  return undefined
}
