import { messageStatuses } from '@wagate/shared/statuses'
import { z } from 'zod'
import { exampleMessage, messageRecord, toMessageRecord } from '../objects/message-object.ts'
import { defineOperation } from '../operation.ts'
import { integer, messageId, phone } from '../parameters/parameter-types.ts'

const messagesMax = 200

export const messages = defineOperation({
  name: 'messages',
  summary: 'Return the last 200 messages of the account, newest first',
  methods: ['GET'],
  changes: false,
  parameters: z.object({
    limit: integer(1, messagesMax).optional().describe('200 by default'),
    before: messageId.optional().describe('Only messages older than this one'),
    sender: phone.optional().describe('Only messages of this sender'),
    number: phone.optional().describe('Only messages with this other party'),
    status: z
      .enum(messageStatuses, { error: `must be one of ${messageStatuses.join(', ')}` })
      .optional()
      .describe('Only messages of this status'),
  }),
  fields: z.object({
    messages: z.array(messageRecord),
    has_more: z.boolean().describe('There may be older ones: ask with next_before'),
    next_before: messageId
      .nullable()
      .describe(
        'The before of the next page; null on the last. A page with a filter may be short, or empty, and not the last',
      ),
  }),
  errors: ['message_not_found', 'rate_limited'],
  example: {
    given: { limit: 1 },
    answer: { messages: [exampleMessage], has_more: false, next_before: null },
  },
  async handle({ limit = messagesMax, ...query }, { context: { history }, account, deadline }) {
    const { messages, next } = await history.list(account.accountId, { ...query, limit }, deadline.signal)
    return {
      messages: messages.map(toMessageRecord),
      has_more: next !== undefined,
      next_before: next ?? null,
    }
  },
})
