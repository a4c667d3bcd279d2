import type { MediaType, MessageType } from '@wagate/shared/message-kinds'
import type { MessageContent } from '@wagate/shared/objects/message-content'
import type { UnavailableReason } from '@wagate/shared/unavailable'
import type { proto } from 'baileys'
import type { Cleaner } from '../cleaner.ts'

/** What the gateway keeps of a message from a person. */
export type ReadKind = {
  type: MessageType
  /** What a person reads. Not yet cleaned. */
  text?: string | null | undefined
  content?: MessageContent
  file?: MessageFile | undefined
  /** Why the gateway has no content of it. */
  unavailable?: UnavailableReason
}

export type MessageFile = { kind: MediaType; described: DescribedFile }

/** The fields by which a message describes its file. */
export type DescribedFile = Pick<
  proto.Message.IDocumentMessage,
  'directPath' | 'url' | 'mediaKey' | 'fileSha256' | 'fileLength' | 'mimetype' | 'fileName'
>

/** Of one kind: how its field of the protocol's `Message` is read. */
export type KindReader<Given> = (given: Given, cleaner: Cleaner) => ReadKind

export const textCharsMax = 1024

type Numeric = number | { toNumber(): number } | null | undefined

/** Null for one that is missing, and for one that no number can hold. */
export function numberOf(given: Numeric): number | null {
  if (given === null || given === undefined) return null
  const value = typeof given === 'number' ? given : given.toNumber()
  return Number.isSafeInteger(value) ? value : null
}

/** An amount that WhatsApp counts in thousandths. */
export function amountOf(thousandths: Numeric): number | null {
  const value = numberOf(thousandths)
  return value === null ? null : value / 1000
}

/** The time in ISO 8601. Null for none, and for what is no time. `unitMs`: of the given number. */
export function timeOf(given: Numeric, unitMs = 1000): string | null {
  const ms = (numberOf(given) ?? 0) * unitMs
  const date = new Date(ms)
  return ms > 0 && !Number.isNaN(date.getTime()) ? date.toISOString() : null
}
