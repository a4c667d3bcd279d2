import { randomFillSync } from 'node:crypto'

/** UUID version 7 (RFC 9562): sorts by creation time, which keeps index inserts together. */
export function makeMessageId(nowMs = Date.now()): string {
  const time = nowMs.toString(16).padStart(12, '0')
  const random = takeRandomHex(10)
  // Two bits of it are the variant.
  const variant = ((Number.parseInt(random.slice(3, 4), 16) & 0x3) | 0x8).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`
}

/** The form that WhatsApp Web gives its message ids; chosen once at acceptance and never changed. */
export function makeWhatsAppMessageId(): string {
  return `3EB0${takeRandomHex(9).toUpperCase()}`
}

const pool = Buffer.alloc(8192)
let used = pool.length

/** Fetched many at a time: asking the system for a few costs as much as asking for thousands. Each byte is used once. */
function takeRandomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.toString('hex', used - bytes, used)
}
