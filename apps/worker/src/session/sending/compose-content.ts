import { hkdfSync } from 'node:crypto'
import type { SentContent } from '@wagate/db/queries/messages/message-content'
import { type ComposedType, isComposedType } from '@wagate/shared/message-kinds'
import {
  type AnyMediaMessageContent,
  type AuthenticationCreds,
  generateWAMessageContent,
  proto,
  type WASocket,
} from 'baileys'

/** What is encrypted and sent. */
export type MessageContent = proto.IMessage
/** A file to upload, with what WhatsApp is told of it. */
export type MediaContent = AnyMediaMessageContent

type Compose = (given: SentContent, secret: Uint8Array) => Promise<MessageContent>

/** The content of each kind that is sent without a file. */
const composers: Record<ComposedType, Compose> = {
  text: ({ body }, secret) => textContent(body ?? '', secret),
}

/** `secret`: what reactions to the message and edits of it are encrypted with. */
export function composeContent(given: SentContent, secret: Uint8Array): Promise<MessageContent> {
  if (!isComposedType(given.type)) throw new Error(`A message of type ${given.type} is never composed`)
  return composers[given.type](given, secret)
}

async function textContent(text: string, secret: Uint8Array): Promise<MessageContent> {
  // Unless the preview is null, Baileys fetches the links in the text.
  const content = await generateWAMessageContent({ text, linkPreview: null }, { upload: refuseUpload })
  return { ...content, messageContextInfo: { ...content.messageContextInfo, messageSecret: secret } }
}

const secretBytes = 32

/** The same for every attempt to send the message, by any owner, and known to nobody without the keys of the link. */
export function messageSecretOf(
  { signedIdentityKey }: Pick<AuthenticationCreds, 'signedIdentityKey'>,
  messageId: string,
): Uint8Array {
  const info = `wagate message secret ${messageId}`
  return new Uint8Array(hkdfSync('sha256', signedIdentityKey.private, Buffer.alloc(0), info, secretBytes))
}

async function refuseUpload(): Promise<never> {
  throw new Error('A text has nothing to upload')
}

/** Uploads a file. Returns the content that is sent for it, as bytes for `readContent`. */
export async function uploadContent(
  { waUploadToServer }: Pick<WASocket, 'waUploadToServer'>,
  content: MediaContent,
): Promise<Buffer> {
  const uploaded = await generateWAMessageContent(content, {
    upload: waUploadToServer,
  })
  for (const media of [uploaded.imageMessage, uploaded.videoMessage]) {
    if (media?.jpegThumbnail?.length === 0) media.jpegThumbnail = null
  }
  return Buffer.from(proto.Message.encode(uploaded).finish())
}

export function readContent(bytes: Uint8Array): MessageContent {
  return proto.Message.decode(bytes)
}
