import type { Database } from '@wagate/db/client'
import {
  findSentContent,
  findUploadedContent,
  type SentContent,
  storeUploadedContent,
} from '@wagate/db/queries/messages/message-content'
import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import type { Fence } from '@wagate/db/queries/statements/fence'
import { messageIdOf } from '@wagate/shared/ids'
import { isMediaType, type MediaType } from '@wagate/shared/message-kinds'
import { type InspectedSource, loadMedia } from '../media/load-media.ts'
import type { AuthenticationCreds, WASocket } from '../session/connection/socket.ts'
import { uploadContext, type Vault } from '../session/credentials/vault.ts'
import {
  composeContent,
  type MessageContent,
  messageSecretOf,
  readContent,
  uploadContent,
} from '../session/sending/compose-content.ts'
import { quoteMessage } from '../session/sending/quote-message.ts'

type Source = InspectedSource & { vault: Vault }

/** Of the device that sends. */
type ContentKeys = { vault: Vault; creds: Pick<AuthenticationCreds, 'signedIdentityKey' | 'me'> }

/** True for what needs no upload, and for media that was uploaded before. */
export function isReadyToSend(message: Pick<WaitingMessage, 'type' | 'uploadedContent'>): boolean {
  return !isMediaType(message.type) || message.uploadedContent !== null
}

/** The content that is sent for a message, for media after its upload. */
export async function contentOf(
  { vault, creds }: ContentKeys,
  message: SentContent & Pick<WaitingMessage, 'id' | 'uploadedContent'>,
  recipient: string,
): Promise<MessageContent> {
  const content = message.uploadedContent
    ? readContent(vault.open(message.uploadedContent, uploadContext(message.id)))
    : await composeContent(message, messageSecretOf(creds, message.id))
  return message.replyTo ? quoteMessage(content, message.replyTo, { recipient, me: creds.me }) : content
}

/** For a recipient that could not decrypt a message and asks for it again. Undefined when it was never sent to them. */
export async function findContentToResend(
  db: Database,
  keys: ContentKeys,
  device: { id: number; sender: string },
  waId: string | null | undefined,
  askedBy: string[],
): Promise<MessageContent | undefined> {
  const messageId = waId ? messageIdOf(waId, device.sender) : undefined
  const sent = messageId ? await findSentContent(db, device.id, messageId, askedBy) : undefined
  if (!sent || !isReadyToSend(sent)) return undefined
  return contentOf(keys, sent, sent.recipientJid)
}

/**
 * Fetches, checks and uploads the media of a message, and stores what WhatsApp needs to find it, encrypted:
 * a resend does not upload again. Throws MediaError when the message can never be sent; other errors are temporary.
 */
export async function uploadMedia(
  source: Source,
  sock: WASocket,
  fence: Fence,
  message: WaitingMessage,
): Promise<Buffer> {
  // If the answer of Postgres to an earlier attempt was lost, the upload may be stored and the bytes of a data: URL deleted.
  const stored = await findUploadedContent(source.db, message)
  if (stored) return stored
  const { content, release } = await loadMedia(source, withMedia(message))
  try {
    const bytes = await uploadContent(sock, content)
    const sealed = source.vault.seal(bytes, uploadContext(message.id))
    await storeUploadedContent(source.db, fence, { ...message, content: sealed })
    return sealed
  } finally {
    await release()
  }
}

function withMedia(message: WaitingMessage): WaitingMessage & { type: MediaType } {
  const { type } = message
  if (!isMediaType(type)) throw new Error(`A message of type ${type} has no media`)
  return { ...message, type }
}
