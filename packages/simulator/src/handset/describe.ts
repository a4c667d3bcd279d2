import { type MediaType, normalizeMessageContent, type proto } from 'baileys'
import type { KnownMedia, ReceivedMessage } from '../network/chat.ts'
import type { Network } from '../network/network.ts'
import { type MediaReference, openMedia, pathOf } from './open-media.ts'

export type Description = Pick<
  ReceivedMessage,
  'type' | 'text' | 'caption' | 'mime' | 'sha256' | 'size' | 'file' | 'quoted'
>

const nothing = { text: null, caption: null, mime: null, sha256: null, size: null }

/** What is known about a message without decrypting it. */
export function describeSealed(stanzaType: string | undefined, mediaType: string | undefined): Description {
  return { ...nothing, type: mediaType ?? stanzaType ?? 'text' }
}

/** What the phone shows of a message. Media is fetched and decrypted. */
export async function describe(network: Network, message: proto.IMessage): Promise<Description> {
  const content = normalizeMessageContent(message) ?? message
  const quoted = quotedBy(content)
  return { ...(await describeContent(network, content)), ...(quoted && { quoted }) }
}

function quotedBy(content: proto.IMessage): Description['quoted'] {
  for (const part of Object.values(content) as ({ contextInfo?: proto.IContextInfo } | null)[]) {
    const { stanzaId, participant, quotedMessage } = part?.contextInfo ?? {}
    if (!stanzaId) continue
    const text = quotedMessage?.conversation ?? quotedMessage?.imageMessage?.caption ?? null
    return { wa_message_id: stanzaId, participant: participant ?? null, text }
  }
  return undefined
}

async function describeContent(network: Network, content: proto.IMessage): Promise<Description> {
  const text = content.conversation ?? content.extendedTextMessage?.text
  if (text !== null && text !== undefined) return { ...nothing, type: 'text', text }
  const media = findMedia(content)
  if (media) return describeMedia(network, media)
  return describeOther(content)
}

type FoundMedia = {
  type: MediaType
  content: MediaReference & {
    mimetype?: string | null
    caption?: string | null
    fileName?: string | null
    seconds?: number | null
    width?: number | null
    height?: number | null
    jpegThumbnail?: Uint8Array | null
    gifPlayback?: boolean | null
    ptt?: boolean | null
  }
}

function findMedia(content: proto.IMessage): FoundMedia | undefined {
  if (content.imageMessage) return { type: 'image', content: content.imageMessage }
  if (content.videoMessage) return { type: 'video', content: content.videoMessage }
  if (content.ptvMessage) return { type: 'ptv', content: content.ptvMessage }
  if (content.audioMessage) return { type: 'audio', content: content.audioMessage }
  if (content.documentMessage) return { type: 'document', content: content.documentMessage }
  if (content.stickerMessage) return { type: 'sticker', content: content.stickerMessage }
  return undefined
}

/** Where the file of a message is. */
export function mediaOf(message: proto.IMessage): KnownMedia | undefined {
  const found = findMedia(normalizeMessageContent(message) ?? message)
  const { directPath, mediaKey, fileName } = found?.content ?? {}
  if (!directPath || !mediaKey) return undefined
  return { directPath: pathOf(directPath), mediaKey, ...(fileName && { filename: fileName }) }
}

async function describeMedia(network: Network, { type, content }: FoundMedia): Promise<Description> {
  const opened = await openMedia(network, type, content)
  if (!opened) network.counters.unreadable_media += 1
  return {
    ...nothing,
    type,
    caption: content.caption ?? null,
    mime: content.mimetype ?? null,
    sha256: opened?.sha256 ?? null,
    size: opened?.size ?? null,
    file: {
      filename: content.fileName ?? null,
      seconds: content.seconds ?? null,
      width: content.width ?? null,
      height: content.height ?? null,
      preview: content.jpegThumbnail?.length ? Buffer.from(content.jpegThumbnail).toString('base64') : null,
      ...(content.gifPlayback && { is_gif: true }),
      ...(content.ptt && { is_voice_note: true }),
    },
  }
}

function describeOther(content: proto.IMessage): Description {
  if (content.contactMessage)
    return { ...nothing, type: 'contact', text: content.contactMessage.displayName ?? null }
  if (content.reactionMessage)
    return { ...nothing, type: 'reaction', text: content.reactionMessage.text ?? null }
  if (content.locationMessage) {
    const { degreesLatitude, degreesLongitude } = content.locationMessage
    return { ...nothing, type: 'location', text: `${degreesLatitude},${degreesLongitude}` }
  }
  const kind = Object.keys(content).find((name) => name !== 'messageContextInfo' && hasValue(content, name))
  return { ...nothing, type: kind?.replace(/Message(V\d)?$/, '') ?? 'empty' }
}

function hasValue(content: proto.IMessage, name: string): boolean {
  const value = content[name as keyof proto.IMessage]
  return value !== null && value !== undefined
}
