import { proto } from 'baileys'
import { listBytesFields } from '../../credentials/protobuf-field.ts'
import { findKind } from './find-kind.ts'
import { unwrap } from './unwrap.ts'

/** The field of `messageContextInfo`. */
const contextField = 35

/**
 * The content of a message whose fields this version of the protocol does not know, if it is in a wrapper: they all have the
 * same shape. Otherwise undefined. `isUnknown`: there are fields that cannot be read.
 */
export function openUnknown(encoded: Uint8Array): { content?: proto.IMessage; isUnknown: boolean } {
  const fields = listBytesFields(encoded)?.filter(({ field }) => field !== contextField) ?? []
  for (const { value } of fields) {
    const inner = decodeWrapped(value)
    const kind = inner && findKind(unwrap(inner))
    if (inner && kind) return { content: inner, isUnknown: false }
  }
  return { isUnknown: fields.length > 0 }
}

function decodeWrapped(value: Uint8Array): proto.IMessage | undefined {
  try {
    return proto.Message.FutureProofMessage.decode(value).message ?? undefined
  } catch {
    return undefined
  }
}
