import { createHash, randomUUID } from 'node:crypto'
import { inSlices, isLarge } from '../http/in-slices.ts'
import { isPlainText } from '../http/is-plain-text.ts'

/**
 * SHA-256 of the payload's JSON, in base64. The hash is stored and compared for 24 hours: the payload must not contain a
 * secret that could be guessed, and its JSON must stay the same in later versions.
 */
export async function hashPayload(payload: unknown): Promise<string> {
  const longStrings: string[] = []
  const placeholder = randomUUID()
  const outline = JSON.stringify(payload, (_, value) =>
    typeof value === 'string' && isLarge(value.length) ? longStrings.push(value) && placeholder : value,
  )
  const hash = createHash('sha256')
  const [start = '', ...rest] = outline.split(placeholder)
  hash.update(start)
  for (const [index, text] of rest.entries()) {
    for await (const slice of inSlices(longStrings[index] ?? ''))
      hash.update(isPlainText(slice) ? slice : JSON.stringify(slice).slice(1, -1))
    hash.update(text)
  }
  return hash.digest('base64')
}
