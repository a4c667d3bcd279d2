import type { MessageChangeKind } from '@wagate/db/queries/messages/message-changes'
import { normalizeMessageContent, proto } from 'baileys'
import type { Cleaner } from './cleaner.ts'
import { bodyCharsMax, readText } from './message-text.ts'
import { cleanId } from './received-source.ts'

type Change = { kind: MessageChangeKind; target: string; fromMe: boolean; text: string | null }

const reactionCharsMax = 64

const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type

/** Undefined for content that changes no other message. */
export function readChange(content: proto.IMessage, cleaner: Cleaner): Change | undefined {
  const { reactionMessage: reaction, pollUpdateMessage: vote, protocolMessage: protocol } = content
  if (reaction) return about('reaction', reaction.key, cleaner.optional(reaction.text, reactionCharsMax))
  if (vote) return about('poll_vote', vote.pollCreationMessageKey, null)
  if (protocol?.type === REVOKE) return ofContact(about('deleted', protocol.key, null))
  if (protocol?.type !== MESSAGE_EDIT) return undefined
  const edited = protocol.editedMessage && normalizeMessageContent(protocol.editedMessage)
  const text = edited && readText(edited)?.body
  return ofContact(about('edited', protocol.key, cleaner.optional(text, bodyCharsMax)))
}

function about(
  kind: MessageChangeKind,
  key: proto.IMessageKey | null | undefined,
  text: string | null,
): Change | undefined {
  // The key is that of the contact's phone, to which the messages of the contact are its own.
  return key?.id ? { kind, target: cleanId(key.id), fromMe: !key.fromMe, text } : undefined
}

/** A contact edits and deletes only what it has written itself. */
function ofContact(change: Change | undefined): Change | undefined {
  return change?.fromMe ? undefined : change
}
