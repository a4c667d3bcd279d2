import { hash, verify } from '@node-rs/argon2'
import { makeSemaphore } from '@wagate/runtime/semaphore'
import { z } from 'zod'
import { rateLimited } from '../limits/rate-limited.ts'

const message = 'must have 8 to 128 characters'

/** Normalized, so that the same password typed on another keyboard is equal. */
export const password = z
  .string({ error: message })
  // A character may have several units, and more before it is normalized. Longer texts are not looked at.
  .refine((value) => value.length <= 128 * 16, message)
  .transform((value) => value.normalize('NFC'))
  .refine((value) => [...value].length >= 8 && [...value].length <= 128, message)

/** Each hash takes 19 MiB and a thread of libuv's pool, which everything else needs, too. */
const slots = makeSemaphore(4)
/** A flood of passwords is refused rather than answered late. */
const atOnceMax = 200
let atOnce = 0

/** Argon2id with OWASP's minimum: 19 MiB and about 5 ms. Throws `rate_limited`. */
export function hashPassword(text: string): Promise<string> {
  return inSlot(() => hash(text, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }))
}

/**
 * Throws `rate_limited`. Without a hash, because there is no such account, it takes as long and is false: the time must not
 * tell which accounts exist.
 */
export async function isPassword(text: string, passwordHash: string | undefined): Promise<boolean> {
  if (passwordHash !== undefined) return inSlot(() => verify(passwordHash, text))
  await hashPassword(text)
  return false
}

async function inSlot<Result>(work: () => Promise<Result>): Promise<Result> {
  if (atOnce >= atOnceMax) {
    throw rateLimited('password-checks', 'Too many passwords are being checked. Try again later.', 1)
  }
  atOnce += 1
  const release = await slots.acquire(1)
  try {
    return await work()
  } finally {
    release()
    atOnce -= 1
  }
}
