import type { Written } from '../handset/compose.ts'
import { type WrittenKind, writtenKinds } from '../handset/compose-kind.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { type Body, optionalText, text } from './read-body.ts'

/** What the person sends. A test writes it, so the fields inside of a kind are not checked. */
export function readWritten(body: Body): Written {
  const kind = writtenKinds.find((name) => body[name] !== undefined)
  if (kind) {
    if (typeof body[kind] !== 'object' || body[kind] === null)
      throw new SimulatorError(`${kind} must be an object.`)
    return { [kind]: body[kind] } as WrittenKind
  }
  const file = optionalText(body, 'file')
  if (file !== undefined) {
    const mime = optionalText(body, 'mime') ?? 'application/octet-stream'
    return { text: optionalText(body, 'text') ?? '', file: { body: Buffer.from(file, 'base64'), mime } }
  }
  const replyTo = optionalText(body, 'reply_to')
  return { text: text(body, 'text'), ...(replyTo !== undefined && { reply_to: replyTo }) }
}
