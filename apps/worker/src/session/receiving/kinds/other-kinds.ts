import type { MessageContent } from '@wagate/shared/objects/message-content'
import { proto } from 'baileys'
import type { Cleaner } from '../cleaner.ts'
import { cleanId } from '../received-source.ts'
import { readLocation } from './common-kinds.ts'
import { amountOf, type MessageFile, numberOf, type ReadKind, textCharsMax, timeOf } from './read-kind.ts'

type Key = proto.IMessageKey | null | undefined

/** Of a message that is about another one. */
export function aboutKey(key: Key): Pick<MessageContent, 'about_wa_message_id'> {
  return key?.id ? { about_wa_message_id: cleanId(key.id) } : {}
}

/** A message that is only a text, of a kind that `type` does not tell. */
export function readNote(kind: string, text: string | null | undefined, key?: Key): ReadKind {
  return { type: 'other', text: text ?? null, content: { kind, ...aboutKey(key) } }
}

export function readGroupInvite(given: proto.Message.IGroupInviteMessage, cleaner: Cleaner): ReadKind {
  const group_invite = {
    group_id: cleaner.optional(given.groupJid, textCharsMax),
    code: cleaner.optional(given.inviteCode, textCharsMax),
    name: cleaner.optional(given.groupName, textCharsMax),
    expires_at: timeOf(given.inviteExpiration),
  }
  const text = given.caption || given.groupName
  return { type: 'other', text, content: { kind: 'group_invite', group_invite } }
}

type ChannelInvite = proto.Message.INewsletterAdminInviteMessage &
  proto.Message.INewsletterFollowerInviteMessage

export function readChannelInvite(given: ChannelInvite, cleaner: Cleaner, as_admin: boolean): ReadKind {
  const channel_invite = {
    channel_id: cleaner.optional(given.newsletterJid, textCharsMax),
    name: cleaner.optional(given.newsletterName, textCharsMax),
    expires_at: timeOf(given.inviteExpiration),
    as_admin,
  }
  const text = given.caption || given.newsletterName
  return { type: 'other', text, content: { kind: 'channel_invite', channel_invite } }
}

export function readOrder(given: proto.Message.IOrderMessage, cleaner: Cleaner): ReadKind {
  const order = {
    id: cleaner.optional(given.orderId, textCharsMax),
    title: cleaner.optional(given.orderTitle, textCharsMax),
    items: given.itemCount ?? null,
    amount: amountOf(given.totalAmount1000),
    currency: cleaner.optional(given.totalCurrencyCode, textCharsMax),
  }
  return { type: 'other', text: given.message || given.orderTitle, content: { kind: 'order', order } }
}

export function readProduct(given: proto.Message.IProductMessage, cleaner: Cleaner): ReadKind {
  const { product: shown, catalog, body, footer } = given
  const image = shown?.productImage ?? catalog?.catalogImage
  const title = shown?.title ?? catalog?.title
  const below = cleaner.optional(footer, textCharsMax)
  const product = {
    id: cleaner.optional(shown?.productId, textCharsMax),
    title: cleaner.optional(title, textCharsMax),
    description: cleaner.optional(shown?.description ?? catalog?.description, textCharsMax),
    price: amountOf(shown?.priceAmount1000),
    currency: cleaner.optional(shown?.currencyCode, textCharsMax),
    url: cleaner.optional(shown?.url, textCharsMax),
  }
  return {
    type: 'other',
    text: body || title,
    file: image ? { kind: 'image', described: image } : undefined,
    content: { kind: 'product', product, ...(below !== null && { footer: below }) },
  }
}

export function readInvoice(given: proto.Message.IInvoiceMessage): ReadKind {
  const { IMAGE } = proto.Message.InvoiceMessage.AttachmentType
  const file: MessageFile | undefined = given.attachmentDirectPath
    ? {
        kind: given.attachmentType === IMAGE ? 'image' : 'document',
        described: {
          directPath: given.attachmentDirectPath,
          mediaKey: given.attachmentMediaKey ?? null,
          fileSha256: given.attachmentFileSha256 ?? null,
          mimetype: given.attachmentMimetype ?? null,
        },
      }
    : undefined
  return { ...readNote('invoice', given.note), file }
}

type Payment = NonNullable<MessageContent['payment']>

export function readPayment(
  step: string,
  {
    key,
    noteText,
    ...facts
  }: Partial<Omit<Payment, 'step'>> & { key?: Key; noteText?: string | null | undefined },
): ReadKind {
  const payment = { step, amount: null, currency: null, expires_at: null, ...facts }
  return { type: 'other', text: noteText, content: { kind: 'payment', payment, ...aboutKey(key) } }
}

/** The amount of a request, in whichever of its two forms it has one. */
export function requestedAmount(
  given: proto.Message.IRequestPaymentMessage,
  cleaner: Cleaner,
): Pick<Payment, 'amount' | 'currency' | 'expires_at'> {
  const value = numberOf(given.amount?.value)
  const unit = given.amount?.offset || 1
  return {
    amount: value === null ? amountOf(given.amount1000) : value / unit,
    currency: cleaner.optional(given.amount?.currencyCode ?? given.currencyCodeIso4217, textCharsMax),
    expires_at: timeOf(given.expiryTimestamp),
  }
}

export function readEvent(given: proto.Message.IEventMessage, cleaner: Cleaner): ReadKind {
  const event = {
    name: cleaner.optional(given.name, textCharsMax),
    description: cleaner.optional(given.description, 4 * textCharsMax),
    starts_at: timeOf(given.startTime),
    ends_at: timeOf(given.endTime),
    link: cleaner.optional(given.joinLink, textCharsMax),
    is_canceled: given.isCanceled === true,
  }
  const place = given.location ? readLocation(given.location, cleaner) : {}
  return { type: 'other', text: given.name || given.description, content: { kind: 'event', event, ...place } }
}

type CallFacts = {
  outcome?: string | null
  seconds?: number | null
  is_video: boolean
  starts_at?: string | null
}

export function readCall(
  { outcome = null, seconds = null, is_video, starts_at = null }: CallFacts,
  text: string | null | undefined,
  key?: Key,
): ReadKind {
  const call = { outcome, seconds, is_video, starts_at }
  return { type: 'other', text: text ?? null, content: { kind: 'call', call, ...aboutKey(key) } }
}

export const timeOfMs = (given: Parameters<typeof timeOf>[0]) => timeOf(given, 1)

/** The name of a value of the protocol, in lower case. */
export function nameOf(names: Record<number, string>, value: number | null | undefined): string | null {
  return (value !== null && value !== undefined && names[value]?.toLowerCase()) || null
}

export function readStickerPack(given: proto.Message.IStickerPackMessage, cleaner: Cleaner): ReadKind {
  const sticker_pack = {
    name: cleaner.optional(given.name, textCharsMax),
    publisher: cleaner.optional(given.publisher, textCharsMax),
    description: cleaner.optional(given.packDescription, textCharsMax),
    stickers: given.stickers?.length ?? 0,
  }
  return { type: 'other', text: given.caption || given.name, content: { kind: 'sticker_pack', sticker_pack } }
}

/** An answer of an artificial assistant: its parts, in order. Pictures and maps among them have no text. */
export function readRichResponse({ submessages }: proto.IAIRichResponseMessage): ReadKind {
  const parts = (submessages ?? []).flatMap((part) => [
    part.messageText,
    part.codeMetadata?.codeBlocks?.map(({ codeContent }) => codeContent ?? '').join(''),
    part.tableMetadata?.rows?.map(({ items }) => (items ?? []).join('\t')).join('\n'),
    part.latexMetadata?.text,
  ])
  return { type: 'text', text: parts.filter(Boolean).join('\n') || null, content: { kind: 'ai_response' } }
}
