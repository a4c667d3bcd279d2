import type { MessageChangeKind } from '@wagate/db/queries/messages/message-changes'
import type { Quoted } from '@wagate/db/queries/messages/received-messages'
import type { MessageType } from '@wagate/shared/message-kinds'
import { type MessageContent, quotedCharsMax } from '@wagate/shared/objects/message-content'
import type { UnavailableReason } from '@wagate/shared/unavailable'
import { isJidBroadcast, isJidGroup, jidDecode, proto, type WAMessage, type WAMessageKey } from 'baileys'
import { type Cleaner, cleanText, makeCleaner } from './cleaner.ts'
import { optionCharsMax } from './kinds/common-kinds.ts'
import { contextOf, readKind, unknownKind } from './kinds/find-kind.ts'
import { readFacts } from './kinds/message-facts.ts'
import { aboutKey } from './kinds/other-kinds.ts'
import { openWrappers, type Unwrapped, unwrap } from './kinds/unwrap.ts'
import { type MediaDescriptor, readMediaDescriptor } from './media-descriptor.ts'
import { cleanId, type ReceivedSource, readOwnSource, readSource, type WrittenOn } from './received-source.ts'

type Cleaned = {
  /** True when parts were left out. The rest is stored, and WhatsApp need not deliver the message again. */
  isCleaned: boolean
}

/** What the stanza of a message says. */
export type StanzaFacts = {
  username?: string | null
  pushName?: string | null
  /** ISO 8601. */
  writtenAt?: string | null
  /** It may be the content of a message that was stored without it. */
  isResent?: boolean
}

/** A message from a contact, in a form that Postgres accepts. */
type ReceivedMessage = ReceivedSource &
  StanzaFacts &
  Cleaned & {
    type: MessageType
    body: string | null
    content: MessageContent | null
    quoted: Quoted | null
    /** Of its file, if it has one. */
    media?: MediaDescriptor | undefined
    /** Why it has no content. */
    unavailable?: UnavailableReason | null
  }

/** What a contact, or the account elsewhere, does with another message of the chat. */
type ReceivedChange = ReceivedSource &
  StanzaFacts &
  Cleaned & { kind: MessageChangeKind; target: string; fromMe: boolean; text: string | null } & {
    /** Of a vote: what was chosen, or null if that is unknown. */
    options?: string[] | null
    /** An edit that cannot be decrypted: `text` is unknown. */
    isUnread?: boolean
  }

export type Received = ReceivedMessage | ReceivedChange

/**
 * Undefined for everything but messages from contacts and those that the account has written elsewhere: groups, protocol
 * messages. `chosen`: the options of a vote. `writtenOn`: if the account has written it.
 */
export function readReceived(
  { key, message }: Pick<WAMessage, 'key' | 'message'>,
  chosen: string[] | null = null,
  writtenOn: WrittenOn = 'phone',
): Received | undefined {
  const source = readSource(key) ?? readOwnSource(key, writtenOn)
  if (!source || !message) return undefined
  const opened = openWrappers(message)
  const { content } = opened
  const cleaner = makeCleaner()
  const isCleaned = () => source.isCleaned || cleaner.isCleaned()
  const change = readChange(content, cleaner, source.writtenOn !== undefined)
  if (change) {
    const options = chosen?.map((option) => cleaner.text(option, optionCharsMax)) ?? null
    return { ...source, ...change, ...(change.kind === 'poll_vote' && { options }), isCleaned: isCleaned() }
  }
  const read = readKind(content, cleaner)
  if (!read) return undefined
  const body = cleaner.body(read.text)
  const details = { content: withFacts(read.content, opened, cleaner), quoted: readQuoted(content, source) }
  const media = read.file && readMediaDescriptor(read.file, key)
  const { type, unavailable = null } = read
  return { ...source, type, body, ...details, media, unavailable, isCleaned: isCleaned() }
}

/** Null for a message that has nothing besides its text and its file. */
function withFacts(
  content: MessageContent | undefined,
  opened: Unwrapped,
  cleaner: Cleaner,
): MessageContent | null {
  const all = {
    ...content,
    ...aboutKey(opened.commentOn),
    ...readFacts(opened, cleaner),
  }
  return Object.keys(all).length > 0 ? all : null
}

/** For a message whose plaintext cannot be decoded, or has only what this version of the protocol does not know. */
export function readUndecodable(key: WAMessageKey, writtenOn: WrittenOn): Received | undefined {
  const source = readSource(key) ?? readOwnSource(key, writtenOn)
  const { type, content = null, unavailable = null } = unknownKind
  return source && { ...source, type, body: null, content, quoted: null, unavailable, isCleaned: true }
}

/** For a message whose content this device was not sent, or could not decrypt. */
export function readUnavailable(
  key: WAMessageKey,
  writtenOn: WrittenOn,
  unavailable: UnavailableReason,
): Received | undefined {
  const source = readSource(key) ?? readOwnSource(key, writtenOn)
  return source && withoutContent(source, unavailable)
}

export function withoutContent(
  source: ReceivedSource & Partial<Cleaned>,
  unavailable: UnavailableReason,
): Received {
  return { isCleaned: false, ...source, type: 'other', body: null, content: null, quoted: null, unavailable }
}

/** The message that this one quotes, as the contact tells it. */
function readQuoted(message: proto.IMessage, from: ReceivedSource): Quoted | null {
  const context = contextOf(message)
  if (!context?.stanzaId) return null
  const quoted = context.quotedMessage && unwrap(context.quotedMessage)
  const { type, text } = (quoted && readKind(quoted, makeCleaner())) ?? { type: 'other', text: null }
  return {
    waId: cleanId(context.stanzaId),
    from_me: isFromSender(context, from),
    type,
    // It repeats another message, so nothing is lost.
    text: text ? cleanText(text, quotedCharsMax) : null,
  }
}

/** Null when it cannot be told. In a chat of two, whoever is not the contact is the sender. */
function isFromSender({ participant, remoteJid }: proto.IContextInfo, from: ReceivedSource): boolean | null {
  const author = jidDecode(participant ?? undefined)
  if (!author) return null
  // A private answer to a message of a group, or to a status, whose author may be a third person.
  const isOfOthers = isJidGroup(remoteJid ?? '') || isJidBroadcast(remoteJid ?? '')
  const contact = author.server === 'lid' ? jidDecode(from.contactJid ?? undefined)?.user : from.number
  if (!contact) return null
  if (author.user === contact) return false
  return isOfOthers ? null : true
}

type Change = {
  kind: MessageChangeKind
  target: string
  fromMe: boolean
  text: string | null
  isUnread?: boolean
}

const reactionCharsMax = 64

const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type

/** Undefined for content that changes no other message. */
function readChange(content: proto.IMessage, cleaner: Cleaner, isOwn: boolean): Change | undefined {
  const { reactionMessage: reaction, pollUpdateMessage: vote, protocolMessage: protocol } = content
  // What could be decrypted is another message by now.
  const { secretEncryptedMessage: sealed } = content
  if (sealed) return unread(ofAuthor(isOwn, about('edited', sealed.targetMessageKey, isOwn)))
  if (protocol?.type === REVOKE) return ofAuthor(isOwn, about('deleted', protocol.key, isOwn))
  if (reaction)
    return about('reaction', reaction.key, isOwn, cleaner.optional(reaction.text, reactionCharsMax))
  if (vote) return about('poll_vote', vote.pollCreationMessageKey, isOwn)
  if (protocol?.type !== MESSAGE_EDIT) return undefined
  const edited = protocol.editedMessage && unwrap(protocol.editedMessage)
  const text = edited && readKind(edited, cleaner)?.text
  return ofAuthor(isOwn, about('edited', protocol.key, isOwn, cleaner.body(text)))
}

function about(
  kind: MessageChangeKind,
  key: proto.IMessageKey | null | undefined,
  isOwn: boolean,
  text: string | null = null,
): Change | undefined {
  // The key is that of the phone that sends it, to which its own messages are its own.
  return key?.id
    ? { kind, target: cleanId(key.id), fromMe: isOwn === (key.fromMe ?? false), text }
    : undefined
}

const unread = (change: Change | undefined): Change | undefined => change && { ...change, isUnread: true }

/** Contacts, and the account itself, edit and delete only what they have written. */
function ofAuthor(isOwn: boolean, change: Change | undefined): Change | undefined {
  return change?.fromMe === isOwn ? change : undefined
}
