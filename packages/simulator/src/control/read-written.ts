import { writtenKinds } from '../handset/compose-kind.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { type Body, optionalText } from './read-body.ts'

export const writtenFields = [
  'text',
  'reply_to',
  'file',
  'mime',
  'filename',
  'as',
  'view_once',
  ...writtenKinds,
]

/** What the person sends, each part of it that is given. */
export function readWritten(body: Body): object {
  const file = optionalText(body, 'file')
  const mime = optionalText(body, 'mime')
  const filename = optionalText(body, 'filename')
  if (file === undefined && mime !== undefined) throw new SimulatorError('mime belongs to a file.')
  if (file === undefined && filename !== undefined) throw new SimulatorError('filename belongs to a file.')
  const written: Record<string, unknown> = {
    text: optionalText(body, 'text') ?? (file === undefined ? undefined : ''),
    as: optionalText(body, 'as'),
    view_once: body.view_once ?? undefined,
    reply_to: optionalText(body, 'reply_to'),
    file: file && {
      body: Buffer.from(file, 'base64'),
      mime: mime ?? 'application/octet-stream',
      ...(filename !== undefined && { filename }),
    },
  }
  for (const kind of writtenKinds) {
    const value = body[kind]
    if (value !== undefined && (typeof value !== 'object' || value === null))
      throw new SimulatorError(`${kind} must be an object.`)
    written[kind] = value
  }
  return Object.fromEntries(Object.entries(written).filter(([, value]) => value !== undefined))
}
