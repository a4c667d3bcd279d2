import { hash } from '@node-rs/argon2'
import { z } from 'zod'

const message = 'must have 8 to 128 characters'

/** Normalised, so that the same password typed on another keyboard is the same. */
export const password = z
  .string({ error: message })
  .transform((value) => value.normalize('NFC'))
  .refine((value) => [...value].length >= 8 && [...value].length <= 128, message)

const atATimeMax = 4
const waiting: (() => void)[] = []
let running = 0

/** Argon2id with OWASP's minimum: 19 MiB and about 5 ms, so not more than four at a time. */
export async function hashPassword(text: string): Promise<string> {
  if (running >= atATimeMax) await new Promise<void>((resolve) => waiting.push(resolve))
  running++
  try {
    return await hash(text, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  } finally {
    running--
    waiting.shift()?.()
  }
}
