import { randomBytes } from 'node:crypto'
import { proto } from 'baileys'
import { pnJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import type { Phone } from '../network/phone.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { sealEdit, sealVote } from './message-secret.ts'

/** What a person sends besides texts and files, by kind. An id is that of another message of the chat. */
type Kinds = {
  location: { latitude: number; longitude: number; name?: string; live?: boolean }
  contacts: { name: string; vcard: string }[]
  poll: { name: string; options: string[] }
  reaction: { wa_message_id: string; emoji: string }
  edit: { wa_message_id: string; text: string; encrypted?: boolean }
  delete: { wa_message_id: string }
  vote: { wa_message_id: string; options?: string[] }
  /** Anything else: a `Message` of the protocol in JSON, bytes in base64. */
  content: object
}
type Kind = keyof Kinds

/** Of the phone that writes, to a number. */
type Chat = { network: Network; phone: Phone; to: string }

const composers: { [Name in Kind]: (written: Kinds[Name], chat: Chat) => proto.IMessage } = {
  location: composeLocation,
  contacts: composeContacts,
  poll: composePoll,
  reaction: ({ emoji, ...of }, chat) => ({
    reactionMessage: { key: messageKey(chat, of), text: emoji, senderTimestampMs: Date.now() },
  }),
  edit: composeEdit,
  delete: (of, chat) => ({
    protocolMessage: { key: messageKey(chat, of), type: proto.Message.ProtocolMessage.Type.REVOKE },
  }),
  vote: ({ options, ...of }, chat) => {
    const unknown = { encPayload: randomBytes(48), encIv: randomBytes(12) }
    const vote = options ? sealVote({ ...chat, id: of.wa_message_id }, options) : unknown
    return { pollUpdateMessage: { pollCreationMessageKey: messageKey(chat, of), vote } }
  },
  content: fromJson,
}

export const writtenKinds = Object.keys(composers) as Kind[]

/** What each of them is made of. `content` is anything. */
export const kindFields: { [Name in Kind]: readonly string[] | undefined } = {
  location: ['latitude', 'longitude', 'name', 'live'],
  contacts: ['name', 'vcard'],
  poll: ['name', 'options'],
  reaction: ['wa_message_id', 'emoji'],
  edit: ['wa_message_id', 'text', 'encrypted'],
  delete: ['wa_message_id'],
  vote: ['wa_message_id', 'options'],
  content: undefined,
}

export type WrittenKind =
  | { text: string; reply_to: string }
  | { [Name in Kind]: { [Only in Name]: Kinds[Only] } }[Kind]

export function composeKind(chat: Chat, given: WrittenKind): proto.IMessage {
  for (const kind of writtenKinds) {
    if (kind in given) return composeOnly(kind, given as Kinds, chat)
  }
  const { text, reply_to } = given as { text: string; reply_to: string }
  return { extendedTextMessage: { text, contextInfo: quote(chat, reply_to) } }
}

function composeOnly<Name extends Kind>(kind: Name, written: Kinds, chat: Chat): proto.IMessage {
  return composers[kind](written[kind], chat)
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

function composeLocation({ latitude, longitude, name, live }: Kinds['location']): proto.IMessage {
  const position = { degreesLatitude: latitude, degreesLongitude: longitude }
  if (live) return { liveLocationMessage: { ...position, sequenceNumber: 1 } }
  return { locationMessage: { ...position, ...(name !== undefined && { name }) } }
}

function composeContacts(cards: Kinds['contacts']): proto.IMessage {
  const contacts = cards.map(({ name, vcard }) => ({ displayName: name, vcard }))
  const [first] = contacts
  if (first && contacts.length === 1) return { contactMessage: first }
  return { contactsArrayMessage: { displayName: `${contacts.length} contacts`, contacts } }
}

function composePoll({ name, options }: Kinds['poll']): proto.IMessage {
  return {
    messageContextInfo: { messageSecret: randomBytes(32) },
    pollCreationMessageV3: {
      name,
      options: options.map((optionName) => ({ optionName })),
      selectableOptionsCount: 1,
    },
  }
}

function composeEdit({ text, encrypted, ...of }: Kinds['edit'], chat: Chat): proto.IMessage {
  const { Type } = proto.Message.ProtocolMessage
  const key = messageKey(chat, of)
  const editedMessage = { conversation: text }
  const protocolMessage = { key, type: Type.MESSAGE_EDIT, editedMessage, timestampMs: Date.now() }
  if (!encrypted) return { editedMessage: { message: { protocolMessage } } }
  const { MESSAGE_EDIT: secretEncType } = proto.Message.SecretEncryptedMessage.SecretEncType
  const sealed = sealEdit({ ...chat, id: of.wa_message_id }, { protocolMessage })
  return { secretEncryptedMessage: { ...sealed, secretEncType, targetMessageKey: key } }
}

/** In the perspective of this phone. */
function messageKey(
  { phone, to }: Chat,
  { wa_message_id: id }: { wa_message_id: string },
): proto.IMessageKey {
  return { remoteJid: pnJid(to), fromMe: phone.chat.sent.has(id), id }
}

function quote({ phone, to }: Chat, id: string): proto.IContextInfo {
  const sent = phone.chat.sent.get(id)
  const received = [...phone.chat.received.values()].find(({ message }) => message.wa_message_id === id)
  const text = sent?.text ?? received?.message.text ?? ''
  return {
    stanzaId: id,
    participant: pnJid(sent ? phone.number : to),
    quotedMessage: { conversation: text },
  }
}
