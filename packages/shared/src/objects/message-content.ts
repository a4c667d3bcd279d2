import { z } from 'zod'
import { messageTypes } from '../message-kinds.ts'
import { extensibleEnum } from './extensible-enum.ts'

const text = z.string().nullable()

export const messageContent = z
  .object({
    location: z
      .object({
        latitude: z.number(),
        longitude: z.number(),
        name: text,
        address: text,
        url: text,
        is_live: z
          .boolean()
          .describe('The contact shared its position for a while. Only the first one is known'),
      })
      .optional(),
    contacts: z
      .array(
        z.object({
          name: text,
          numbers: z.array(z.string()).describe('As the contact card has them'),
          vcard: text.describe('The contact card itself. null when it is too large'),
        }),
      )
      .optional(),
    poll: z
      .object({
        name: text,
        options: z.array(z.string()),
        selectable: z.int().describe('How many options a person may choose. 0: any number'),
      })
      .optional(),
    choice: z
      .object({ id: text, title: text })
      .optional()
      .describe('The button or the entry of a list that the contact chose'),
    is_forwarded: z.boolean().optional(),
  })
  .meta({ id: 'MessageContent' })

export type MessageContent = z.infer<typeof messageContent>

export const quotedMessage = z
  .object({
    wa_message_id: z.string().describe('ID of the quoted message at WhatsApp'),
    message_id: z.uuid().nullable().describe('null when the gateway does not know the quoted message'),
    from_me: z.boolean().nullable().describe('Whether the sender wrote it. null when it is not known'),
    type: extensibleEnum(messageTypes),
    text: text.describe('The beginning of its text or caption'),
  })
  .meta({ id: 'QuotedMessage' })

export type QuotedMessage = z.infer<typeof quotedMessage>

/** Of the text of a quoted message, in UTF-16 units. */
export const quotedCharsMax = 1024
