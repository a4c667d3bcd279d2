import { z } from 'zod'

/** What an event says of a reaction, an edit, a deletion or a vote, besides the message that it is about. */
export const messageChange = {
  number: z.string().nullable().optional().describe('The contact that reacted, edited, deleted or voted'),
  lid: z.string().nullable().optional().describe('Its LID, in digits'),
  wa_message_id: z.string().optional().describe('ID at WhatsApp of the message that it is about'),
  from_me: z.boolean().optional().describe('Whether the sender wrote that message'),
  reaction: z.string().nullable().optional().describe('The emoji. null when the contact removed it'),
  text: z
    .string()
    .optional()
    .describe('Of `message.edited`, when the gateway does not know the message: the new text'),
  options: z
    .null()
    .optional()
    .describe('Of `message.poll_vote`: null, because the gateway cannot decrypt what was chosen'),
}

/** As the database has it. `waId` is the id of the stanza that made the change. */
export type StoredChange = {
  waId: string
  /** Empty when WhatsApp does not tell it. */
  number: string
  contactJid?: string
  target: string
  fromMe: boolean
  reaction?: string | null
  text?: string
}

const pollVote = 14

/** The fields of an event. Empty for events of other types. */
export function changeFieldsOf(type: number, change: StoredChange | null) {
  if (!change?.target) return {}
  const { number, contactJid, target, fromMe, reaction, text } = change
  return {
    number: number || null,
    lid: contactJid?.endsWith('@lid') ? contactJid.slice(0, -'@lid'.length) : null,
    wa_message_id: target,
    from_me: fromMe,
    ...(reaction !== undefined && { reaction }),
    ...(text !== undefined && { text }),
    ...(type === pollVote && { options: null }),
  }
}
