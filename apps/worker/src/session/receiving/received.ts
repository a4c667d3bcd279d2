import type { MessageChangeKind } from '@wagate/db/queries/messages/message-changes'
import type { Quoted } from '@wagate/db/queries/messages/received-messages'
import type { MessageType } from '@wagate/shared/message-kinds'
import type { MessageContent } from '@wagate/shared/objects/message-content'
import type { WAMessage, WAMessageKey } from 'baileys'
import { makeCleaner } from './cleaner.ts'
import { type MediaDescriptor, readMediaDescriptor } from './media-descriptor.ts'
import { bodyCharsMax, readText } from './message-text.ts'
import { readQuoted } from './quoted.ts'
import { readChange } from './received-change.ts'
import { optionCharsMax, readDetails } from './received-details.ts'
import { type ReceivedSource, readSource } from './received-source.ts'
import { unwrap } from './unwrap.ts'

type Cleaned = {
  /** True when parts were left out. The rest is stored, and WhatsApp need not deliver the message again. */
  isCleaned: boolean
}

/** A message from a contact, in a form that Postgres accepts. */
type ReceivedMessage = ReceivedSource &
  Cleaned & {
    type: MessageType
    body: string | null
    content: MessageContent | null
    quoted: Quoted | null
    /** Of its file, if it has one. */
    media?: MediaDescriptor | undefined
  }

/** What a contact does with another message of the chat. */
type ReceivedChange = ReceivedSource &
  Cleaned & { kind: MessageChangeKind; target: string; fromMe: boolean; text: string | null } & {
    /** Of a vote: what was chosen, or null if that is unknown. */
    options?: string[] | null
  }

export type Received = ReceivedMessage | ReceivedChange

/**
 * Undefined for everything but messages from contacts: groups, the device's own messages, protocol messages. `chosen`: the
 * options of a vote.
 */
export function readReceived(
  { key, message }: Pick<WAMessage, 'key' | 'message'>,
  chosen: string[] | null = null,
): Received | undefined {
  const source = readSource(key)
  const content = message && unwrap(message)
  if (!source || !content) return undefined
  const cleaner = makeCleaner()
  const isCleaned = () => source.isCleaned || cleaner.isCleaned()
  const change = readChange(content, cleaner)
  if (change) {
    const options = chosen?.map((option) => cleaner.text(option, optionCharsMax)) ?? null
    return { ...source, ...change, ...(change.kind === 'poll_vote' && { options }), isCleaned: isCleaned() }
  }
  const read = readText(content)
  if (!read) return undefined
  const body = read.body === null ? null : cleaner.text(read.body, bodyCharsMax)
  const details = { content: readDetails(content, cleaner), quoted: readQuoted(content, source) }
  const media = readMediaDescriptor(content, key)
  return { ...source, type: read.type, body, ...details, media, isCleaned: isCleaned() }
}

/** For a message whose plaintext cannot be decoded. */
export function readUndecodable(key: WAMessageKey): Received | undefined {
  const source = readSource(key)
  return source && { ...source, type: 'other', body: null, content: null, quoted: null, isCleaned: true }
}
