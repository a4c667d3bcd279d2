import type { MessageType } from '@wagate/shared/message-kinds'
import { getContentType, type proto } from 'baileys'
import { choiceOf, pollOf } from './received-details.ts'

/** WhatsApp's own limit. */
export const bodyCharsMax = 65_536

/** Undefined for content that is not a message to a person, such as keys and protocol messages. */
export function readText(content: proto.IMessage): { type: MessageType; body: string | null } | undefined {
  switch (getContentType(content)) {
    case 'conversation':
      return { type: 'text', body: content.conversation ?? null }
    case 'extendedTextMessage':
      return { type: 'text', body: content.extendedTextMessage?.text ?? null }
    case 'imageMessage':
      return { type: 'image', body: content.imageMessage?.caption ?? null }
    case 'videoMessage':
      return { type: 'video', body: content.videoMessage?.caption ?? null }
    case 'ptvMessage':
      return { type: 'video', body: null }
    case 'audioMessage':
      return { type: 'audio', body: null }
    case 'documentMessage':
      return { type: 'document', body: content.documentMessage?.caption ?? null }
    case 'stickerMessage':
      return { type: 'sticker', body: null }
    case 'locationMessage':
      return { type: 'location', body: content.locationMessage?.comment ?? null }
    case 'liveLocationMessage':
      return { type: 'location', body: content.liveLocationMessage?.caption ?? null }
    case 'contactMessage':
      return { type: 'contacts', body: content.contactMessage?.displayName ?? null }
    case 'contactsArrayMessage':
      return { type: 'contacts', body: content.contactsArrayMessage?.displayName ?? null }
    case 'protocolMessage':
    case 'reactionMessage':
    case 'encReactionMessage':
    case 'pollUpdateMessage':
    case 'senderKeyDistributionMessage':
    case undefined:
      return undefined
    default:
      return readOther(content)
  }
}

function readOther(content: proto.IMessage): { type: MessageType; body: string | null } {
  const poll = pollOf(content)
  if (poll) return { type: 'poll', body: poll.name ?? null }
  const choice = choiceOf(content)
  if (choice) return { type: 'text', body: choice.title ?? null }
  return { type: 'other', body: null }
}
