/** Offsets of the first and the last byte. */
type ByteRange = { first: number; last: number }

/**
 * Of a file that is not empty. Undefined: answer with all of it, which RFC 9110 (14.2) allows for everything but one valid
 * range. `unsatisfiable`: the range begins behind the end.
 */
export function parseRange(header: string | null, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  if (from === '') {
    const length = Number(to)
    return length === 0 ? 'unsatisfiable' : { first: Math.max(0, size - length), last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < first) return undefined
  return first >= size ? 'unsatisfiable' : { first, last }
}
