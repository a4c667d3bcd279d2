import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { send } from '../messages/send.ts'
import {
  exampleAddress,
  exampleSent,
  sendErrors,
  sendFields,
  sendParameters,
} from '../messages/send-contract.ts'
import { text } from '../parameters/parameter-types.ts'

export const sendMessage = defineOperation({
  name: 'send-message',
  summary: 'Send a text message from a connected sender',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    ...sendParameters,
    message: text(4096)
      .refine((message) => /\S/.test(message), 'must not consist of white space alone')
      .describe('Text of the message'),
  }),
  fields: z.object(sendFields),
  errors: sendErrors,
  example: { given: { ...exampleAddress, message: 'Your order is on its way.' }, answer: exampleSent },
  handle: (input, call) => send(call, input, { type: 'text', body: input.message }),
})
