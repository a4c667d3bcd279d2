import { mediaTypes } from '@wagate/shared/message-kinds'
import { z } from 'zod'
import type { Vault } from '../credentials/vault.ts'

/** Where the file of a message is at WhatsApp, and what opens it. */
const mediaSource = z.object({
  kind: z.enum(mediaTypes),
  /** On WhatsApp's media host, with its query. */
  path: z.string(),
  /** Base64. */
  mediaKey: z.string(),
  /** The message at WhatsApp, for asking its phone to upload the file again. */
  waId: z.string(),
  chatJid: z.string(),
  /** The account has written it on its phone. */
  isOwn: z.boolean().optional(),
})

export type MediaSource = z.infer<typeof mediaSource>

/** The authenticated context of a sealed source. */
export const mediaContext = (messageId: string) => `received media|${messageId}`

export function sealMediaSource(vault: Vault, messageId: string, source: MediaSource): Buffer {
  return vault.seal(Buffer.from(JSON.stringify(source)), mediaContext(messageId))
}

/** Throws when it was changed or moved, or was sealed under an unknown master key. */
export function openMediaSource(vault: Vault, messageId: string, sealed: Buffer): MediaSource {
  return mediaSource.parse(JSON.parse(vault.open(sealed, mediaContext(messageId)).toString()))
}
