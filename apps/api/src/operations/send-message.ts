import { z } from 'zod'
import {
  exampleAddress,
  exampleSent,
  send,
  sendErrors,
  sendFields,
  sendParameters,
} from '../messages/send.ts'
import { defineOperation } from '../operation.ts'
import { text } from '../parameters/parameter-types.ts'

export const sendMessage = defineOperation({
  name: 'send-message',
  summary: 'Send a text message from a connected sender',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({ ...sendParameters, message: text(4096).describe('The text') }),
  fields: z.object(sendFields),
  errors: sendErrors,
  example: { given: { ...exampleAddress, message: 'Your order is on its way.' }, answer: exampleSent },
  handle: (given, call) =>
    send(call, 'send-message', given, {
      content: { type: 'text', body: given.message, url: null, filename: null, file: null },
      payload: { message: given.message },
    }),
})
