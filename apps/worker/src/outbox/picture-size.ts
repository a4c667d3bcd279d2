export type PictureSize = { width: number; height: number }

/** Of a PNG, JPEG or WebP, from its header alone; undefined when it is none, or says it in an unusual way. */
export function findPictureSize(bytes: Buffer): PictureSize | undefined {
  try {
    if (bytes.toString('latin1', 1, 4) === 'PNG') return sizeOfPng(bytes)
    if (bytes.toString('latin1', 8, 12) === 'WEBP') return sizeOfWebp(bytes)
    if (bytes.readUInt16BE(0) === 0xffd8) return sizeOfJpeg(bytes)
    return undefined
  } catch {
    // It ends before it has said so.
    return undefined
  }
}

// https://www.w3.org/TR/png-3/#11IHDR
function sizeOfPng(bytes: Buffer): PictureSize | undefined {
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

// https://developers.google.com/speed/webp/docs/riff_container
function sizeOfWebp(bytes: Buffer): PictureSize | undefined {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    default:
      return undefined
  }
}

// ITU T.81, B.1.1.3: the frame header is one of C0 to CF, less those that are no frames.
const noFrames = [0xc4, 0xc8, 0xcc]

function sizeOfJpeg(bytes: Buffer): PictureSize | undefined {
  let at = 2
  while (bytes[at] === 0xff) {
    const marker = bytes.readUInt8(at + 1)
    if (marker === 0xff) {
      at += 1
    } else if (marker >= 0xc0 && marker <= 0xcf && !noFrames.includes(marker)) {
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    } else {
      at += 2 + bytes.readUInt16BE(at + 2)
    }
  }
  return undefined
}
