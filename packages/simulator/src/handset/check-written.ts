import { refuseUnknownFields } from '../network/known-fields.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import type { Written } from './compose.ts'
import { kindFields, writtenKinds } from './compose-kind.ts'

const fields = ['text', 'reply_to', 'file', ...writtenKinds]

/** A person sends one thing: a text, an answer, a file with a caption, or one of the other kinds. Throws for anything else. */
export function checkWritten(written: object): asserts written is Written {
  refuseUnknownFields(written, fields, 'A message')
  const given = Object.entries(written).filter(([, value]) => value !== undefined)
  const kinds = given.map(([name]) => name).filter((name) => name !== 'text' && name !== 'reply_to')
  const isText = given.some(([name]) => name === 'text')
  const isAnswer = given.some(([name]) => name === 'reply_to')
  if (kinds.length === 0 && !isText) throw new SimulatorError('text is missing.')
  const isCaption = kinds[0] === 'file'
  const all = [...(isText && !isCaption ? ['text'] : []), ...kinds]
  if (all.length > 1)
    throw new SimulatorError(`A message is one of ${all.join(' and ')}. Send them one by one.`)
  if (isAnswer && kinds.length > 0) throw new SimulatorError('reply_to belongs to a text.')
  for (const kind of writtenKinds) {
    const value = (written as Record<string, unknown>)[kind]
    const known = kindFields[kind]
    if (value === undefined || known === undefined) continue
    for (const one of [value].flat()) refuseUnknownFields(Object(one), known, kind)
  }
}
