import type { proto } from 'baileys'
import type { KnownMedia } from '../network/chat.ts'
import type { Network } from '../network/network.ts'
import type { Phone } from '../network/phone.ts'
import { composeKind, type WrittenKind } from './compose-kind.ts'
import { type Description, describe } from './describe.ts'
import { sealFile } from './seal-file.ts'

/** With a name, it is sent as a document. */
type WrittenFile = { body: Buffer; mime: string; filename?: string }

/** What a person writes. With a file, the text is its caption. */
export type Written = { text: string; file?: WrittenFile } | WrittenKind

type Composed = { message: proto.IMessage; shown: Description; media?: KnownMedia }

/** A message as the phone sends it. Its file is uploaded. */
export async function compose(
  network: Network,
  phone: Phone,
  to: string,
  written: Written,
): Promise<Composed> {
  if ('file' in written || isPlainText(written)) return composeFile(network, written)
  const message = composeKind({ network, phone, to }, written)
  return { message, shown: await describe(network, message) }
}

const isPlainText = (written: Written): written is { text: string } =>
  'text' in written && !('reply_to' in written)

function composeFile(network: Network, { text, file }: { text: string; file?: WrittenFile }): Composed {
  if (!file) {
    const shown = { type: 'text', text, caption: null, mime: null, sha256: null, size: null }
    return { message: { conversation: text }, shown }
  }
  const { body, mime, filename } = file
  const type = filename === undefined ? kindOf(mime) : 'document'
  const sealed = sealFile(network.media, type, body)
  const sha256 = sealed.fileSha256.toString('hex')
  const name = filename !== undefined && { fileName: filename }
  const content = { ...sealed, mimetype: mime, fileLength: body.length, ...name }
  return {
    message: { [`${type}Message`]: type === 'audio' ? content : { ...content, caption: text } },
    shown: { type, text: null, caption: type === 'audio' ? null : text, mime, sha256, size: body.length },
    media: { directPath: sealed.directPath, mediaKey: sealed.mediaKey },
  }
}

function kindOf(mime: string): 'image' | 'video' | 'audio' | 'document' {
  const [kind] = mime.split('/')
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document'
}
