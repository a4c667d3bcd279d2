import type { proto } from 'baileys'
import type { KnownMedia } from '../network/chat.ts'
import type { Network } from '../network/network.ts'
import type { Phone } from '../network/phone.ts'
import { composeFile, type WrittenWithFile } from './compose-file.ts'
import { composeKind, type WrittenKind } from './compose-kind.ts'
import { type Description, describe, mediaOf } from './describe.ts'

/** What a person writes. With a file, the text is its caption. */
export type Written = { text: string } | WrittenWithFile | WrittenKind

type Composed = {
  message: proto.IMessage
  shown: Description
  media?: KnownMedia | undefined
  /** As the stanza names the form of its file. */
  mediaType?: string
  /** Companions are only told that there is such a message. */
  isHiddenFromCompanions?: boolean
}

/** A message as the phone sends it. Its file is uploaded. */
export async function compose(
  network: Network,
  phone: Phone,
  to: string,
  written: Written,
): Promise<Composed> {
  if (isPlainText(written)) {
    const { text } = written
    const shown = { type: 'text', text, caption: null, mime: null, sha256: null, size: null }
    return { message: { conversation: text }, shown }
  }
  const composed = hasFile(written)
    ? await composeFile(network, written)
    : { message: composeKind({ network, phone, to }, written) }
  const { message } = composed
  return { ...composed, shown: await describe(network, message), media: mediaOf(message) }
}

const isPlainText = (written: Written): written is { text: string } =>
  'text' in written && !('reply_to' in written) && !hasFile(written)

const hasFile = (written: Written): written is WrittenWithFile => 'file' in written || 'as' in written
