/**
 * The value of a field of bytes in an encoded message, undefined if it is missing or the message is not valid. For fields
 * that the protocol of Baileys does not know, and drops.
 */
export function readBytesField(message: Uint8Array, field: number): Uint8Array | undefined {
  // The last one counts.
  return listBytesFields(message)?.findLast((found) => found.field === field)?.value
}

/** All fields of bytes, in order. Undefined if the message is not valid. */
export function listBytesFields(message: Uint8Array): { field: number; value: Uint8Array }[] | undefined {
  const found: { field: number; value: Uint8Array }[] = []
  let at = 0
  /** Safe up to 53 bits, which is more than the tags and lengths of any message need. */
  const varint = () => {
    let value = 0
    for (let scale = 1; at < message.length; scale *= 128) {
      const byte = message[at++] ?? 0
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    return Number.NaN
  }
  while (at < message.length) {
    const tag = varint()
    const size = sizeOf(tag % 8, varint)
    if (!(at + size <= message.length)) return undefined
    if (tag % 8 === 2) found.push({ field: Math.floor(tag / 8), value: message.subarray(at, at + size) })
    at += size
  }
  return found
}

/** Of what follows the tag and, for bytes, their length. NaN for a wire type that does not exist any more. */
function sizeOf(wireType: number, varint: () => number): number {
  if (wireType === 0) return varint() * 0
  if (wireType === 1) return 8
  if (wireType === 5) return 4
  return wireType === 2 ? varint() : Number.NaN
}
