import type { proto } from 'baileys'
import { type Field, type KindRow, kindTable, type WrapperMark } from './kind-table.ts'

export type Unwrapped = {
  content: proto.IMessage
  marks: ReadonlySet<WrapperMark>
  /** Of the outermost message that has one. */
  info: proto.IMessageContextInfo | undefined
  /** The message that this one comments on. */
  commentOn: proto.IMessageKey | undefined
}

/** Phones use three at most. */
const depthMax = 8

/** Without the wrappers of disappearing messages, view-once messages and others. */
export function openWrappers(message: proto.IMessage): Unwrapped {
  const marks = new Set<WrapperMark>()
  let content = message
  let info = message.messageContextInfo
  let commentOn: proto.IMessageKey | null | undefined
  for (let depth = 0; depth < depthMax; depth++) {
    const found = wrapperOf(content)
    if (!found) break
    if (found.mark) marks.add(found.mark)
    commentOn ??= content.commentMessage?.targetMessageKey
    content = found.inner
    info ??= content.messageContextInfo
  }
  return { content, marks, info: info ?? undefined, commentOn: commentOn ?? undefined }
}

export const unwrap = (message: proto.IMessage): proto.IMessage => openWrappers(message).content

function wrapperOf(
  content: proto.IMessage,
): { inner: proto.IMessage; mark: WrapperMark | undefined } | undefined {
  for (const field of Object.keys(content) as Field[]) {
    const row = kindTable[field] as KindRow<Field> | undefined
    if (row?.is !== 'wrapper') continue
    const given = content[field]
    const inner = given && row.open(given as never)
    // An empty one has content that this version of the protocol does not know.
    if (inner && Object.keys(inner).length > 0) return { inner, mark: row.mark }
  }
  return undefined
}
