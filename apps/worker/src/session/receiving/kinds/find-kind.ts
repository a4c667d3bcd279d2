import { proto } from 'baileys'
import type { Cleaner } from '../cleaner.ts'
import { type Field, type KindRow, kindTable } from './kind-table.ts'
import { readNote } from './other-kinds.ts'
import { protocolTypes } from './protocol-types.ts'
import type { ReadKind } from './read-kind.ts'

type AnyRow = KindRow<Field>

/** The field that says what a message is, and its row. `content` is unwrapped. */
export function findKind(content: proto.IMessage): { field: Field; row: AnyRow } | undefined {
  let found: { field: Field; row: AnyRow } | undefined
  for (const field of Object.keys(content) as Field[]) {
    const row = kindTable[field] as AnyRow | undefined
    if (!row || content[field] === null || content[field] === undefined) continue
    if (row.is !== 'ignored') return { field, row }
    // An album is more than the context beside it.
    if (field !== 'messageContextInfo') found ??= { field, row }
  }
  return found
}

/** Of a message whose content cannot be read. */
export const unknownKind: ReadKind = {
  type: 'other',
  text: null,
  content: { kind: 'unknown' },
  unavailable: 'unsupported',
}

/** Undefined for content that is not a message to a person. `content` is unwrapped. */
export function readKind(content: proto.IMessage, cleaner: Cleaner): ReadKind | undefined {
  const kind = findKind(content)
  // Too many wrappers, or one without content that this version of the protocol knows.
  if (kind?.row.is === 'wrapper') return unknownKind
  if (content.protocolMessage) return readProtocol(content.protocolMessage)
  return kind?.row.is === 'message' ? kind.row.read(content[kind.field] as never, cleaner) : undefined
}

export function contextOf(content: proto.IMessage): proto.IContextInfo | undefined {
  const field = findKind(content)?.field
  const given: unknown = field && content[field]
  if (typeof given !== 'object' || given === null || !('contextInfo' in given)) return undefined
  // Each kind of message that has this field has it as this type.
  return (given.contextInfo as proto.IContextInfo | null) ?? undefined
}

const { Type } = proto.Message.ProtocolMessage

/** Changes are read elsewhere. Undefined for all that is no message, and for types that this version does not know. */
function readProtocol({ type, key }: proto.Message.IProtocolMessage): ReadKind | undefined {
  const name = type === null || type === undefined ? undefined : Type[type]
  const row = name ? protocolTypes[name as keyof typeof Type] : undefined
  return row?.is === 'message' ? readNote(row.kind, null, key) : undefined
}
