import { cancelMessage as cancel } from '@wagate/db/queries/messages/cancel-message'
import { findMessage } from '@wagate/db/queries/messages/message-history'
import { messageObject, toMessageObject } from '@wagate/shared/objects/message-object'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { AppError } from '../errors/app-error.ts'
import { exampleSent } from '../messages/send-contract.ts'
import { contactFields, toContactFields } from '../objects/contact-fields.ts'
import { messageId } from '../parameters/parameter-types.ts'

export const cancelMessage = defineOperation({
  name: 'cancel-message',
  summary: 'Cancel a message that has not been sent yet; repeating the request changes nothing',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({ message_id: messageId.describe('ID from the response of the send') }),
  fields: z.object({
    ...messageObject.pick({ message_id: true, device_id: true, sender: true, reference: true }).shape,
    ...contactFields,
    status: z.literal('canceled').describe('The message was not sent and never will be'),
  }),
  errors: ['message_not_found', 'not_cancelable'],
  example: {
    given: { message_id: exampleSent.message_id },
    answer: { ...exampleSent, reference: null, status: 'canceled' },
  },
  async handle({ message_id }, { context: { db, events, notify }, principal: { accountId } }) {
    const isNew = await cancel(db, accountId, message_id)
    if (isNew) notify.publishEventHint(accountId)
    const message = await findMessage(db, accountId, message_id)
    if (!message) throw new AppError('message_not_found', 'The account has no such message.')
    const { status, reference } = message
    if (status !== 'canceled') {
      throw new AppError('not_cancelable', `The message can no longer be canceled: its status is ${status}.`)
    }
    // For requests that wait for this message.
    if (isNew) {
      void events.devices.publish(message.deviceId, { kind: 'message', messageId: message.id, status })
      // It may have held back others.
      notify.enqueueCommand({ kind: 'send', deviceId: message.deviceId })
    }
    const contact = toContactFields(toMessageObject(message))
    return { message_id, device_id: message.deviceId, sender: message.sender, reference, ...contact, status }
  },
})
