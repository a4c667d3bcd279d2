import { findHistoryPosition, listMessages } from '@wagate/db/queries/message-history'
import { AppError } from '@wagate/shared/app-error'
import { messageStatuses } from '@wagate/shared/statuses'
import { z } from 'zod'
import { exampleMessage, messageRecord, toMessageRecord } from '../message-record.ts'
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
    has_more: z.boolean().describe('There are older ones: ask with before'),
  }),
  errors: ['message_not_found'],
  example: { given: { limit: 1 }, answer: { messages: [exampleMessage], has_more: false } },
  async handle({ limit = messagesMax, before, ...filter }, { context: { db }, account: { accountId } }) {
    const position = before === undefined ? undefined : await findHistoryPosition(db, accountId, before)
    if (before !== undefined && !position) {
      throw new AppError('message_not_found', 'The account has no such message.')
    }
    const found = await listMessages(db, accountId, { ...filter, before: position, limit: limit + 1 })
    return { messages: found.slice(0, limit).map(toMessageRecord), has_more: found.length > limit }
  },
})
