import { type AnyMediaMessageContent, generateWAMessageContent, proto, type WASocket } from 'baileys'

/** What is encrypted and sent. */
export type MessageContent = proto.IMessage
/** A file to upload, with what WhatsApp is told of it. */
export type MediaContent = AnyMediaMessageContent

const uploadTimeoutMs = 60_000

export async function textContent(text: string): Promise<MessageContent> {
  // Unless the preview is null, Baileys fetches the links in the text.
  return generateWAMessageContent({ text, linkPreview: null }, { upload: refuseUpload })
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
    mediaUploadTimeoutMs: uploadTimeoutMs,
  })
  for (const media of [uploaded.imageMessage, uploaded.videoMessage]) {
    if (media?.jpegThumbnail?.length === 0) media.jpegThumbnail = null
  }
  return Buffer.from(proto.Message.encode(uploaded).finish())
}

export function readContent(bytes: Uint8Array): MessageContent {
  return proto.Message.decode(bytes)
}
