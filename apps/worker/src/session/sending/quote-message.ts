import type { QuotedMessage } from '@wagate/shared/objects/message-content'
import { getContentType, isLidUser, jidNormalizedUser, type proto } from 'baileys'
import type { MessageContent } from './compose-content.ts'

/** The chat of two in which a message is quoted. `me` is the account of the sender. */
export type Chat = { recipient: string; me: { id: string; lid?: string | undefined } | undefined }

/** Adds what a phone needs to show the quoted message, also if it does not have that message. */
export function quoteMessage(content: MessageContent, quoted: QuotedMessage, chat: Chat): MessageContent {
  const type = getContentType(content)
  const part: unknown = type && content[type]
  if (!type || typeof part !== 'object' || part === null) return content
  const contextInfo: proto.IContextInfo = {
    stanzaId: quoted.wa_message_id,
    participant: quoted.from_me ? ownJid(chat) : chat.recipient,
    quotedMessage: shownOf(quoted),
  }
  return { ...content, [type]: { ...part, contextInfo } }
}

function ownJid({ recipient, me }: Chat): string {
  return jidNormalizedUser(isLidUser(recipient) ? (me?.lid ?? me?.id) : me?.id)
}

function shownOf({ type, text }: QuotedMessage): MessageContent {
  const caption = text ?? ''
  switch (type) {
    case 'image':
      return { imageMessage: { caption } }
    case 'video':
      return { videoMessage: { caption } }
    case 'document':
      return { documentMessage: { caption } }
    case 'audio':
      return { audioMessage: {} }
    default:
      return { conversation: caption }
  }
}
