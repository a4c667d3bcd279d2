import { findMessage } from '@wagate/db/queries/message-history'
import { z } from 'zod'
import { AppError } from '../errors/app-error.ts'
import { exampleMessage, messageRecord, toMessageRecord } from '../objects/message-object.ts'
import { defineOperation } from '../operation.ts'
import { messageId } from '../parameters/parameter-types.ts'

export const messageStatus = defineOperation({
  name: 'message-status',
  summary: 'Return one message and what became of it',
  methods: ['GET', 'POST'],
  changes: false,
  parameters: z.object({ message_id: messageId.describe('What the send answered with') }),
  fields: messageRecord,
  errors: ['message_not_found'],
  example: { given: { message_id: exampleMessage.message_id }, answer: exampleMessage },
  async handle({ message_id }, { context: { db }, account: { accountId } }) {
    const message = await findMessage(db, accountId, message_id)
    if (!message) throw new AppError('message_not_found', 'The account has no such message.')
    return toMessageRecord(message)
  },
})
