import { randomFillSync } from 'node:crypto'

/** UUID version 7 (RFC 9562): sorts by creation time, which keeps index inserts together. */
export function makeMessageId(nowMs = Date.now()): string {
  const bytes = Buffer.from(takeRandom(16))
  bytes.writeUIntBE(nowMs, 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The form that WhatsApp Web gives its message ids; chosen once at acceptance and never changed. */
export function makeWhatsAppMessageId(): string {
  return `3EB0${takeRandom(9).toString('hex').toUpperCase()}`
}

const pool = Buffer.alloc(8192)
let used = pool.length

/** Fetched many at a time: asking the system for a few costs as much as asking for thousands. Each byte is used once. */
function takeRandom(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += count
  return pool.subarray(used - count, used)
}
