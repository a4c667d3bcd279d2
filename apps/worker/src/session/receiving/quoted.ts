import type { Quoted } from '@wagate/db/queries/messages/received-messages'
import { quotedCharsMax } from '@wagate/shared/objects/message-content'
import { jidDecode, normalizeMessageContent, type proto } from 'baileys'
import { cleanText } from './cleaner.ts'
import { readText } from './message-text.ts'
import { contextOf } from './received-details.ts'
import { cleanId, type ReceivedSource } from './received-source.ts'

/** The message that this one quotes, as the contact tells it. */
export function readQuoted(message: proto.IMessage, from: ReceivedSource): Quoted | null {
  const context = contextOf(message)
  if (!context?.stanzaId) return null
  const quoted = context.quotedMessage && normalizeMessageContent(context.quotedMessage)
  const { type, body } = (quoted && readText(quoted)) ?? { type: 'other', body: null }
  return {
    waId: cleanId(context.stanzaId),
    from_me: isFromSender(context, from),
    type,
    // It repeats another message, so nothing is lost.
    text: body && cleanText(body, quotedCharsMax),
  }
}

/** Null when it cannot be told. In a chat of two, whoever is not the contact is the sender. */
function isFromSender({ participant }: proto.IContextInfo, from: ReceivedSource): boolean | null {
  const author = jidDecode(participant ?? undefined)
  if (!author) return null
  const contact = author.server === 'lid' ? jidDecode(from.contactJid ?? undefined)?.user : from.number
  return contact ? author.user !== contact : null
}
