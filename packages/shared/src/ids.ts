import { randomFillSync } from 'node:crypto'

/**
 * UUID version 7 (RFC 9562): 48 bits of time, so that it sorts by creation and index inserts stay together, 40 random
 * bits, and 34 that come of the sender. `whatsAppIdOf` and `messageIdOf` need nothing else to find one id by the other.
 */
export function makeMessageId(sender: string, nowMs = Date.now()): string {
  return assemble(nowMs.toString(16).padStart(12, '0'), takeRandomHex(5), sender)
}

/** Milliseconds since 1970, by the clock of the process that made it. */
export function timeOfMessageId(messageId: string): number {
  return Number.parseInt(messageId.slice(0, 8) + messageId.slice(9, 13), 16)
}

/** In the form of WhatsApp Web's own: 72 bits that look random, mixed of the lower 32 of the time and the 40 random ones. */
export function whatsAppIdOf(messageId: string): string {
  const time = messageId.slice(4, 8) + messageId.slice(9, 13)
  const random = messageId.slice(15, 18) + messageId.slice(20, 23) + messageId.slice(24, 28)
  return `3EB0${mix(time + random, 'forth').toUpperCase()}`
}

/**
 * The other message that an id of WhatsApp may stand for, 49.7 days older: messages wait for up to 60 days, and
 * `messageIdOf` alone is right for 39.
 */
export function earlierMessageId(messageId: string): string {
  const time = (timeOfMessageId(messageId) - timeSpanMs).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${messageId.slice(13)}`
}

/** Undefined for an id of another form. Right for 39 days after the message was made; see `earlierMessageId`. */
export function messageIdOf(waId: string, sender: string, nowMs = Date.now()): string | undefined {
  const mixed = /^3EB0([\dA-F]{18})$/.exec(waId)?.[1]
  if (!mixed) return undefined
  const hex = mix(mixed, 'back')
  // The clock of the process that made it may run up to ten days ahead of this one's.
  const latestMs = nowMs + 10 * 86_400_000
  const sinceMs = (latestMs - Number.parseInt(hex.slice(0, 8), 16)) % timeSpanMs
  return assemble((latestMs - sinceMs).toString(16).padStart(12, '0'), hex.slice(8), sender)
}

const timeSpanMs = 2 ** 32

function assemble(time: string, random: string, sender: string): string {
  const ofSender = hash32(sender)
  // Two bits of it are the variant of the UUID.
  const variant = '89ab'[ofSender & 3]
  const rest = ofSender.toString(16).padStart(8, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(3, 6)}-${random.slice(6)}${rest}`
}

/** A Feistel network over three words of 24 bits, given and returned in hexadecimal. It hides nothing: it only looks random. */
function mix(hex: string, direction: 'forth' | 'back'): string {
  let first = Number.parseInt(hex.slice(0, 6), 16)
  let second = Number.parseInt(hex.slice(6, 12), 16)
  let third = Number.parseInt(hex.slice(12), 16)
  if (direction === 'forth') {
    for (let round = 0; round < 3; round++) {
      first ^= word(second, third, round)
      second ^= word(third, first, round)
      third ^= word(first, second, round)
    }
  } else {
    for (let round = 2; round >= 0; round--) {
      third ^= word(first, second, round)
      second ^= word(third, first, round)
      first ^= word(second, third, round)
    }
  }
  return digits(first) + digits(second) + digits(third)
}

function word(left: number, right: number, round: number): number {
  return scramble(Math.imul(left, 0x9e3779b1) + right + round) >>> 8
}

function digits(word: number): string {
  return (word + 0x1000000).toString(16).slice(1)
}

function hash32(text: string): number {
  let hash = 0
  for (let index = 0; index < text.length; index++) hash = scramble(hash ^ text.charCodeAt(index))
  return hash
}

/** The finalizer of MurmurHash3: every bit of the result depends on every bit given. */
function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
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
