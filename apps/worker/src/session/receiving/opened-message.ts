import type { Logger } from '@wagate/runtime/logger'
import { proto, unpadRandomMax16 } from 'baileys'
import { isModestHistory } from '../contacts/history.ts'
import { cleanText } from './cleaner.ts'
import { type KeptSecret, secretOf } from './kept-secret.ts'
import { findKind } from './kinds/find-kind.ts'
import { openUnknown } from './kinds/unknown-kind.ts'
import { unwrap } from './kinds/unwrap.ts'
import type { MessageSecrets } from './message-secrets.ts'
import type { MessageStanza } from './message-stanza.ts'
import { type Received, readReceived, readUndecodable } from './received.ts'
import { readTime } from './received-source.ts'

/** What we store of a decrypted message, and what Baileys is given of it. */
export type OpenedMessage = {
  received: Received[]
  /** For votes and edits that may follow. */
  secret?: KeptSecret | undefined
  /** Padded, as it was decrypted. */
  plaintext: Uint8Array
}

/** A message without content, padded by one byte: Baileys acknowledges it and finds nothing to act on. */
export const emptyPlaintext = Buffer.from([1])

export async function openMessage(
  { key, isFromOwnPhone, isHidden, isPeer, writtenOn }: MessageStanza,
  plaintext: Uint8Array,
  { secrets, logger }: { secrets: Pick<MessageSecrets, 'open'>; logger: Logger },
): Promise<OpenedMessage> {
  const encoded = unpad(plaintext)
  const message = encoded && decode(encoded)
  // Not worth asking for again: it would be the same.
  const undecodable = () =>
    isHidden || isPeer ? [] : [readUndecodable(key, writtenOn)].flatMap((one) => one ?? [])
  if (!message) return { received: undecodable(), plaintext: emptyPlaintext }
  let content = message.deviceSentMessage?.message ?? message
  if (!findKind(unwrap(content))) {
    const opened = openUnknown(encoded)
    if (opened.isUnknown) return { received: undecodable(), plaintext }
    content = opened.content ?? content
  }
  const protocol = unwrap(content).protocolMessage
  if (protocol && isOwnersBusiness(protocol)) {
    const history = protocol.historySyncNotification
    if (!isFromOwnPhone || (history && !(await isModestHistory(history)))) {
      logger.warn('Ignored history that was too large or not from the phone of the account')
      return { received: [], plaintext: emptyPlaintext }
    }
    return { received: resentMessages(protocol), plaintext }
  }
  const readable = await secrets.open(key, content)
  // A device of the account sends it to others for other reasons than showing it to a person.
  const isKept = !isPeer || !key.fromMe
  const received = isKept && readReceived({ key, message: readable.content }, readable.chosen, writtenOn)
  const { messageContextInfo = null } = message
  const secret = secretOf(key, { messageContextInfo, ...content })
  return { received: received ? [received] : [], secret, plaintext }
}

/**
 * Messages by which the phone of an account tells its companions what to download. Every other companion of the account
 * could send them as well, and those may be untrusted programs.
 */
function isOwnersBusiness({ type }: proto.Message.IProtocolMessage): boolean {
  const { Type } = proto.Message.ProtocolMessage
  return (
    type === Type.HISTORY_SYNC_NOTIFICATION ||
    type === Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE ||
    type === Type.LID_MIGRATION_MAPPING_SYNC
  )
}

/** Messages that could not be decrypted and that the phone has sent again on request. */
function resentMessages({
  peerDataOperationRequestResponseMessage,
}: proto.Message.IProtocolMessage): Received[] {
  const results = peerDataOperationRequestResponseMessage?.peerDataOperationResult ?? []
  return results.flatMap(({ placeholderMessageResendResponse }) => {
    const bytes = placeholderMessageResendResponse?.webMessageInfoBytes
    const { key, message, messageTimestamp, pushName } = (bytes && decodeResent(bytes)) || {}
    const received = key && readReceived({ key, message: message ?? null })
    if (!received) return []
    const name = pushName ? cleanText(pushName, 100) : null
    return [{ ...received, pushName: name, writtenAt: readTime(Number(messageTimestamp ?? 0)) }]
  })
}

function unpad(plaintext: Uint8Array): Uint8Array | undefined {
  try {
    return unpadRandomMax16(plaintext)
  } catch {
    return undefined
  }
}

function decode(encoded: Uint8Array): proto.IMessage | undefined {
  try {
    return proto.Message.decode(encoded)
  } catch {
    return undefined
  }
}

function decodeResent(bytes: Uint8Array): proto.IWebMessageInfo | undefined {
  try {
    return proto.WebMessageInfo.decode(bytes)
  } catch {
    return undefined
  }
}
