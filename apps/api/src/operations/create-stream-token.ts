import { insertStreamToken } from '@wagate/db/queries/events/stream-tokens'
import { formatEventId } from '@wagate/shared/event-ids'
import { eventTypes } from '@wagate/shared/event-types'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { hashApiKey, makeApiKey } from '../credentials/api-key.ts'
import { getDevice } from '../devices/device-locator.ts'
import { eventCursor } from '../parameters/event-cursor.ts'
import { eventTypeList, recordId } from '../parameters/parameter-types.ts'

const tokenMs = 600_000

export const createStreamToken = defineOperation({
  name: 'create-stream-token',
  summary: 'Return a short-lived token with which a page reads events/stream without an API key',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    types: eventTypeList.optional().describe('The only types of events that the token shows'),
    device_id: recordId.optional().describe('The only device whose events the token shows'),
    after: eventCursor
      .optional()
      .describe(
        'The token shows only events that follow this `event_id` or `next`, for a page that continues. `latest`, the default: only events from now on',
      ),
  }),
  fields: z.object({
    token: z.string().describe('Value of the parameter `token` of events/stream. Treat it as a secret'),
    expires_in: z
      .int()
      .describe('Seconds until the token becomes invalid and its streams end, or earlier with its API key'),
  }),
  errors: ['device_not_found', 'cursor_expired'],
  example: {
    given: { types: 'message.received' },
    answer: { token: 'wag_stream_…', expires_in: 600 },
  },
  async handle({ types, device_id, after }, call) {
    const { accountId, keyId } = call.principal
    await call.charge({ limit: 'newStreamTokens', key: String(accountId) })
    const device = device_id === undefined ? undefined : await getDevice(call, { device_id })
    const start = await call.context.events.feed.start(after ?? 'latest')
    const token = makeApiKey('wag_stream_')
    await call.context.db.transaction(async (tx) => {
      await insertStreamToken(tx, accountId, {
        keyId,
        hash: hashApiKey(token),
        types: types?.map((type) => eventTypes[type]) ?? null,
        deviceId: device?.id ?? null,
        after: formatEventId(start),
        forMs: tokenMs,
      })
      await audit(tx, call, { target: `key:${keyId}`, result: 'created' })
    })
    return { token, expires_in: tokenMs / 1000 }
  },
})
