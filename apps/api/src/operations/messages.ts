import { exampleMessage, messageObject, toMessageObject } from '@wagate/shared/objects/message-object'
import { messageStatuses } from '@wagate/shared/statuses'
import { z } from 'zod'
import { defineOperation } from '../operation.ts'
import { integer, messageId, phone } from '../parameters/parameter-types.ts'

const messagesMax = 200

export const messages = defineOperation({
  name: 'messages',
  summary: 'Return the last 200 messages of the account, newest first',
  methods: ['GET'],
  changes: false,
  parameters: z.object({
    limit: integer(1, messagesMax).optional().describe('Page size, 200 by default'),
    before: messageId.optional().describe('Only messages older than this one'),
    sender: phone.optional().describe('Only messages of this sender'),
    number: phone.optional().describe('Only messages to or from this phone number'),
    status: z
      .enum(messageStatuses, { error: `must be one of ${messageStatuses.join(', ')}` })
      .optional()
      .describe('Only messages with this status'),
  }),
  fields: z.object({
    messages: z.array(messageObject),
    has_more: z.boolean().describe('There may be older messages; request them with `next_before`'),
    next_before: messageId
      .nullable()
      .describe(
        'Value of `before` for the next page; null on the last page. With a filter, a page may be short or empty without being the last',
      ),
  }),
  errors: ['message_not_found', 'rate_limited'],
  example: {
    given: { limit: 1 },
    answer: { messages: [exampleMessage], has_more: false, next_before: null },
  },
  async handle({ limit = messagesMax, ...query }, { context: { history, mediaLinks }, principal, deadline }) {
    const { messages, next } = await history.list(principal.accountId, { ...query, limit }, deadline.signal)
    const linkTo = await mediaLinks.getLinker()
    return {
      messages: messages.map((message) => toMessageObject(message, linkTo)),
      has_more: next !== undefined,
      next_before: next ?? null,
    }
  },
})
