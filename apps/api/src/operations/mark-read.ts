import type { Database } from '@wagate/db/client'
import {
  type ReadRequest,
  readChatMax,
  requestRead,
  requestReadOfChat,
} from '@wagate/db/queries/messages/read-requests'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { AppError } from '../errors/app-error.ts'
import { exampleSent } from '../messages/send-contract.ts'
import { senderNotFound } from '../messages/send-errors.ts'
import { lid, messageId, phone } from '../parameters/parameter-types.ts'
import { getContact } from '../parameters/recipient.ts'

const messagesMax = readChatMax.messages.toLocaleString('en')

export const markRead = defineOperation({
  name: 'mark-read',
  summary: 'Tell a contact that received messages were read; repeating the request changes nothing',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    message_id: messageId.optional().describe('ID of a received message'),
    sender: phone
      .optional()
      .describe(
        `With number or lid, instead of message_id: the newest ${messagesMax} unread messages of the last ${readChatMax.days} days`,
      ),
    number: phone.optional().describe('Phone number of the contact'),
    lid: lid.optional().describe('LID of the contact, instead of `number`'),
  }),
  fields: z.object({
    requested: z
      .int()
      .describe(
        'Number of messages that are not marked as read yet. They are, with `read_at`, as soon as the sender is connected',
      ),
  }),
  errors: ['missing_parameter', 'message_not_found', 'sender_not_found'],
  example: {
    given: { message_id: exampleSent.message_id },
    answer: { requested: 1 },
  },
  async handle(given, { context: { db, notify }, principal: { accountId } }) {
    const { deviceId, requested } = await request(db, accountId, given)
    if (requested > 0) notify.enqueueCommand({ kind: 'mark-read', deviceId })
    return { requested }
  },
})

type Chosen = {
  message_id?: string | undefined
  sender?: string | undefined
  number?: string | undefined
  lid?: string | undefined
}

async function request(
  db: Database,
  accountId: number,
  { message_id, sender, number, lid }: Chosen,
): Promise<ReadRequest> {
  const isNameless = number === undefined && lid === undefined
  if (message_id !== undefined && sender === undefined && isNameless) {
    const found = await requestRead(db, accountId, message_id)
    if (found) return found
    throw new AppError('message_not_found', 'The account has received no such message.')
  }
  if (message_id === undefined && sender !== undefined && !isNameless) {
    const { key } = await getContact(db, accountId, { number, lid })
    const found = await requestReadOfChat(db, accountId, { sender, key })
    if (found) return found
    throw senderNotFound(sender)
  }
  throw new AppError('missing_parameter', 'Give either message_id, or sender and number or lid.', {
    details: [{ parameter: 'message_id', message: 'or sender and number are required, and not both' }],
  })
}
