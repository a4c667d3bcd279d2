import { refuseUnknownFields } from '../network/known-fields.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import type { Written } from './compose.ts'
import { checkFile, type WrittenWithFile } from './compose-file.ts'
import { kindFields, writtenKinds } from './compose-kind.ts'

/** Of a message with a file, which is the simulator's own if only its form is given. */
const fileFields = ['file', 'as', 'view_once']
const fields = ['text', 'reply_to', ...fileFields, ...writtenKinds]

/** A person sends one thing: a text, an answer, a file with a caption, or one of the other kinds. Throws for anything else. */
export function checkWritten(written: object): asserts written is Written {
  refuseUnknownFields(written, fields, 'A message')
  const given = Object.entries(written).filter(([, value]) => value !== undefined)
  const hasFile = given.some(([name]) => name === 'file' || name === 'as')
  if (!hasFile && given.some(([name]) => name === 'view_once'))
    throw new SimulatorError('view_once belongs to a file.')
  const others = given
    .map(([name]) => name)
    .filter((name) => !['text', 'reply_to', ...fileFields].includes(name))
  const kinds = hasFile ? ['file', ...others] : others
  const isText = given.some(([name]) => name === 'text')
  const isAnswer = given.some(([name]) => name === 'reply_to')
  if (kinds.length === 0 && !isText) throw new SimulatorError('text is missing.')
  const all = [...(isText && !hasFile ? ['text'] : []), ...kinds]
  if (all.length > 1)
    throw new SimulatorError(`A message is one of ${all.join(' and ')}. Send them one by one.`)
  if (isAnswer && kinds.length > 0) throw new SimulatorError('reply_to belongs to a text.')
  if (hasFile) checkFile(written as WrittenWithFile)
  for (const kind of writtenKinds) {
    const value = (written as Record<string, unknown>)[kind]
    const known = kindFields[kind]
    if (value === undefined || known === undefined) continue
    for (const one of [value].flat()) refuseUnknownFields(Object(one), known, kind)
  }
}
