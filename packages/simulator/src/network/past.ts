/** The chats of a person up to a time: how many messages with how many people. The seed decides their content. */
export type Past = { chats: number; messages: number; seed: number; untilSeconds: number }

/** Of a chat. `at` is in seconds. A picture has the small form of it that comes with the message. */
type PastMessage = { id: string; fromMe: boolean; at: number; text: string; thumbnail?: Buffer }

export const pastMax = { chats: 5000, messages: 500_000, seed: 1000 }

// No country has this prefix.
const prefix = '8839'
const words =
  'the order is at home when you come by we meet for lunch today or maybe later please call me see photo thanks'
    .split(' ')
    .concat('ok', 'yes', 'no', 'great', 'tomorrow', 'train', 'ticket', 'never', 'always', 'weekend')
const secondsPerHour = 3600

/** The people. The person chatted with the first one last, and an hour earlier with each further one. */
export function pastContacts({ chats, seed }: Past): string[] {
  return Array.from({ length: chats }, (_, index) => `${prefix}${seed * 10_000 + index + 10_000_000}`)
}

/** The name of a contact, by its position. */
export const pastName = (index: number): string => `Person ${index + 1}`

/** How many messages each chat has. The first ones have most. */
export function pastSizes({ chats, messages }: Past): number[] {
  const weights = Array.from({ length: chats }, (_, index) => 1 / (index + 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const shares = weights.map((weight) => Math.floor((weight / total) * messages))
  const left = messages - shares.reduce((sum, share) => sum + share, 0)
  return shares.map((share, index) => (index === 0 ? share + left : share))
}

/** A message of a chat. 0 is the newest one. */
export function pastMessage(past: Past, chat: number, index: number): PastMessage {
  const random = randomOf(past.seed * 7919 + chat * 1_000_003 + index * 31)
  const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random(256)))
  const text = Array.from({ length: 2 + random(14) }, () => words[random(words.length)]).join(' ')
  return {
    id: bytes(16).toString('hex').toUpperCase(),
    fromMe: random(2) === 0,
    at: past.untilSeconds - chat * secondsPerHour - index * 600 - random(600),
    text,
    ...(random(5) === 0 && { thumbnail: bytes(300 + random(600)) }),
  }
}

/** The same whole numbers below a limit for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed | 0
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    const result = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((result ^ (result >>> 14)) >>> 0) % below
  }
}
