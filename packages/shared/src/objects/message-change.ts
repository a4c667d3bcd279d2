import { z } from 'zod'
import { lidOf } from '../contact-key.ts'
import type { EventType } from '../event-types.ts'

/** What an event says of a reaction, an edit, a deletion or a vote, besides the message that it is about. */
export const changeFields = {
  message_id: z.uuid().nullable().describe('null when the gateway does not know the message'),
  number: z
    .string()
    .nullable()
    .describe('The contact that reacted, edited, deleted or voted, or in whose chat the account did'),
  lid: z.string().nullable().describe('Its LID, in digits'),
  wa_message_id: z.string().describe('ID at WhatsApp of the message that it is about'),
  from_me: z.boolean().describe('Whether the sender wrote that message'),
  by_me: z
    .boolean()
    .describe(
      'Whether the account itself did it, on its phone or on another linked device, and not the contact',
    ),
}

export const reaction = z.string().nullable().describe('The emoji. null when it was removed')
export const editedText = z
  .string()
  .nullable()
  .optional()
  .describe(
    'When the gateway does not know the message: the new text. null when it could not read the edit: the message keeps its former text',
  )
export const voteOptions = z
  .array(z.string())
  .nullable()
  .describe(
    'What was chosen, all of it. Empty when the vote was withdrawn, null when the gateway does not know the poll',
  )

export const exampleChange = {
  number: '4915187654321',
  lid: null,
  wa_message_id: '3EB0280A488696CFC30D42',
  from_me: true,
  by_me: false,
}

export const storedChange = z.object({
  waId: z.string(),
  number: z.string(),
  contactJid: z.string().optional(),
  target: z.string(),
  fromMe: z.boolean(),
  reaction: z.string().nullable().optional(),
  text: z.string().optional(),
  options: z.array(z.string()).optional(),
  unread: z.boolean().optional(),
  byMe: z.boolean().optional(),
})

/** As the database has it. `waId` is the id of the stanza that made the change. `number` may be empty. */
export type StoredChange = z.infer<typeof storedChange>

const changeTypes = ['message.reaction', 'message.edited', 'message.deleted', 'message.poll_vote'] as const
type ChangeType = (typeof changeTypes)[number]

export function isChange(type: EventType | 'other'): type is ChangeType {
  return changeTypes.some((changeType) => changeType === type)
}

/** The fields of an event. */
export function changeFieldsOf(type: ChangeType, data: Record<string, unknown> | null) {
  const stored = storedChange.safeParse(data)
  // A later version may store it in another way. Other events can still be read.
  if (!stored.success) return {}
  const { number, contactJid, target, fromMe, reaction, text, options, unread, byMe } = stored.data
  return {
    number: number || null,
    lid: lidOf(contactJid),
    wa_message_id: target,
    from_me: fromMe,
    by_me: byMe === true,
    ...(reaction !== undefined && { reaction }),
    ...(text !== undefined && { text }),
    ...(unread && { text: null }),
    ...(type === 'message.poll_vote' && { options: options ?? null }),
  }
}
