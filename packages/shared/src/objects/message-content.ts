import { z } from 'zod'
import { messageTypes } from '../message-kinds.ts'
import { extensibleEnum } from './extensible-enum.ts'

const text = z.string().nullable()
const moment = z.iso.datetime().nullable()

const button = z.object({
  type: z.string().describe('`reply`, `url`, `call`, `copy`, or the name that WhatsApp has for it'),
  title: text,
  id: text.describe('What an answer names'),
  url: text,
  number: text.describe('As the button has it'),
  code: text.describe('What the button copies, such as a one-time code'),
})

const businessContent = {
  header: z.string().optional().describe('Text above the message'),
  footer: z.string().optional().describe('Text below the message'),
  buttons: z.array(button).optional(),
  list: z
    .object({
      button: text,
      sections: z.array(
        z.object({
          title: text,
          rows: z.array(z.object({ id: text, title: text, description: text })),
        }),
      ),
    })
    .optional(),
  cards: z
    .array(z.object({ header: text, text, footer: text, buttons: z.array(button) }))
    .optional()
    .describe('Texts of a row of cards'),
  template: z
    .object({ name: text, values: z.array(z.string()) })
    .optional()
    .describe('A template that came without its text: WhatsApp composes it on the phone'),
}

const invitation = { name: text, expires_at: moment }

const otherContent = {
  group_invite: z.object({ group_id: text, code: text, ...invitation }).optional(),
  channel_invite: z.object({ channel_id: text, ...invitation, as_admin: z.boolean() }).optional(),
  order: z
    .object({
      id: text,
      title: text,
      items: z.int().nullable(),
      amount: z.number().nullable(),
      currency: text,
    })
    .optional(),
  product: z
    .object({
      id: text,
      title: text,
      description: text,
      price: z.number().nullable(),
      currency: text,
      url: text,
    })
    .optional(),
  payment: z
    .object({ step: z.string(), amount: z.number().nullable(), currency: text, expires_at: moment })
    .optional()
    .describe('`step`: `requested`, `sent`, `declined`, `canceled` or `invited`'),
  event: z
    .object({
      name: text,
      description: text,
      starts_at: moment,
      ends_at: moment,
      link: text,
      is_canceled: z.boolean(),
    })
    .optional()
    .describe('Its place is in `location`'),
  call: z
    .object({
      outcome: text,
      seconds: z.int().nullable(),
      is_video: z.boolean(),
      starts_at: moment.describe('Of a planned call'),
    })
    .optional(),
  sticker_pack: z.object({ name: text, publisher: text, description: text, stickers: z.int() }).optional(),
  poll_result: z
    .object({ name: text, options: z.array(z.object({ title: text, votes: z.int() })) })
    .optional(),
  about_wa_message_id: z
    .string()
    .optional()
    .describe('ID at WhatsApp of the message that a comment, an answer or a payment is about'),
}

export const messageContent = z
  .object({
    kind: z
      .string()
      .optional()
      .describe('What WhatsApp calls it, where `type` does not say it. There may be new ones at any time'),
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
    form: z
      .object({ name: text, response_json: text.describe('As WhatsApp has it. null when it is too large') })
      .optional()
      .describe('What the contact filled in'),
    ...businessContent,
    ...otherContent,
    link_preview: z
      .object({ url: text, title: text, description: text })
      .optional()
      .describe('What the phone of the contact showed of a link. It may say anything'),
    is_forwarded: z.boolean().optional(),
    forwarding_score: z.int().optional().describe('How often it was forwarded, as WhatsApp counts it'),
    is_voice: z.boolean().optional().describe('A voice note, not a file with sound'),
    is_gif: z.boolean().optional(),
    is_video_note: z.boolean().optional(),
    seconds: z.int().optional().describe('Length of an audio or video, as the sender claims'),
    disappears_after_seconds: z.int().optional(),
    mentions: z.array(z.string()).optional().describe('Addresses at WhatsApp of the people it mentions'),
    advertisement: z
      .object({
        title: text,
        text,
        url: text,
        source_type: text,
        source_id: text,
        click_id: text.describe('`ctwa_clid` of an ad that leads to WhatsApp'),
        entry_point: text,
      })
      .optional()
      .describe('The advertisement from which the contact wrote'),
    is_view_once: z.boolean().optional().describe('The phone shows it once'),
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
