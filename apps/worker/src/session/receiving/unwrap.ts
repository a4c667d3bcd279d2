import { normalizeMessageContent, type proto } from 'baileys'

/** Without the wrappers of disappearing messages, view-once messages and others. */
export function unwrap(message: proto.IMessage): proto.IMessage | undefined {
  const content = normalizeMessageContent(message)
  const { lottieStickerMessage, pollCreationMessageV4 } = content ?? {}
  return (lottieStickerMessage ?? pollCreationMessageV4)?.message ?? content
}
