import { randomBytes } from 'node:crypto'
import { proto } from 'baileys'
import { pnJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import type { Phone } from '../network/phone.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { sealEdit, sealVote } from './message-secret.ts'

/** What a person sends besides texts and files. An id is that of another message of the chat. */
export type WrittenKind =
  | { text: string; reply_to: string }
  | { location: { latitude: number; longitude: number; name?: string; live?: boolean } }
  | { contacts: { name: string; vcard: string }[] }
  | { poll: { name: string; options: string[] } }
  | { reaction: { wa_message_id: string; emoji: string } }
  | { edit: { wa_message_id: string; text: string; encrypted?: boolean } }
  | { delete: { wa_message_id: string } }
  | { vote: { wa_message_id: string; options?: string[] } }
  /** Anything else: a `Message` of the protocol in JSON, bytes in base64. */
  | { content: object }

export function composeKind(
  network: Network,
  phone: Phone,
  to: string,
  written: WrittenKind,
): proto.IMessage {
  const keyOf = ({ wa_message_id: id }: { wa_message_id: string }) => messageKey(phone, to, id)
  const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type
  if ('content' in written) return fromJson(written.content)
  if ('location' in written) return composeLocation(written.location)
  if ('contacts' in written) return composeContacts(written.contacts)
  if ('poll' in written) return composePoll(written.poll)
  if ('reaction' in written) {
    const { emoji } = written.reaction
    return { reactionMessage: { key: keyOf(written.reaction), text: emoji, senderTimestampMs: Date.now() } }
  }
  if ('delete' in written) return { protocolMessage: { key: keyOf(written.delete), type: REVOKE } }
  if ('vote' in written) {
    const { wa_message_id: id, options } = written.vote
    const unknown = { encPayload: randomBytes(48), encIv: randomBytes(12) }
    const vote = options ? sealVote({ network, phone, to, id }, options) : unknown
    return { pollUpdateMessage: { pollCreationMessageKey: keyOf(written.vote), vote } }
  }
  if ('edit' in written) {
    const editedMessage = { conversation: written.edit.text }
    const protocolMessage = {
      key: keyOf(written.edit),
      type: MESSAGE_EDIT,
      editedMessage,
      timestampMs: Date.now(),
    }
    const edit = { editedMessage: { message: { protocolMessage } } }
    if (!written.edit.encrypted) return edit
    const of = { network, phone, to, id: written.edit.wa_message_id }
    const { MESSAGE_EDIT: secretEncType } = proto.Message.SecretEncryptedMessage.SecretEncType
    const sealed = {
      ...sealEdit(of, { protocolMessage }),
      secretEncType,
      targetMessageKey: keyOf(written.edit),
    }
    return { secretEncryptedMessage: sealed }
  }
  return { extendedTextMessage: { text: written.text, contextInfo: quote(phone, to, written.reply_to) } }
}

/** How the stanza of a message names its kind. Undefined for a text. */
export function stanzaTypeOf(message: proto.IMessage): string | undefined {
  if (message.reactionMessage) return 'reaction'
  if (message.pollUpdateMessage || message.pollCreationMessageV3) return 'poll'
  return message.locationMessage || message.contactMessage || message.contactsArrayMessage
    ? 'media'
    : undefined
}

function fromJson(content: object): proto.IMessage {
  try {
    return proto.Message.fromObject(content)
  } catch {
    throw new SimulatorError('content is no message of the protocol.')
  }
}

type Location = { latitude: number; longitude: number; name?: string; live?: boolean }

function composeLocation({ latitude, longitude, name, live }: Location): proto.IMessage {
  const position = { degreesLatitude: latitude, degreesLongitude: longitude }
  if (live) return { liveLocationMessage: { ...position, sequenceNumber: 1 } }
  return { locationMessage: { ...position, ...(name !== undefined && { name }) } }
}

function composeContacts(cards: { name: string; vcard: string }[]): proto.IMessage {
  const contacts = cards.map(({ name, vcard }) => ({ displayName: name, vcard }))
  const [first] = contacts
  if (first && contacts.length === 1) return { contactMessage: first }
  return { contactsArrayMessage: { displayName: `${contacts.length} contacts`, contacts } }
}

function composePoll({ name, options }: { name: string; options: string[] }): proto.IMessage {
  return {
    messageContextInfo: { messageSecret: randomBytes(32) },
    pollCreationMessageV3: {
      name,
      options: options.map((optionName) => ({ optionName })),
      selectableOptionsCount: 1,
    },
  }
}

/** In the perspective of this phone. */
function messageKey(phone: Phone, to: string, id: string): proto.IMessageKey {
  return { remoteJid: pnJid(to), fromMe: phone.chat.sent.has(id), id }
}

function quote(phone: Phone, to: string, id: string): proto.IContextInfo {
  const sent = phone.chat.sent.get(id)
  const received = [...phone.chat.received.values()].find(({ message }) => message.wa_message_id === id)
  const text = sent?.text ?? received?.message.text ?? ''
  return {
    stanzaId: id,
    participant: pnJid(sent ? phone.number : to),
    quotedMessage: { conversation: text },
  }
}
