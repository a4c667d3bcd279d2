import { hash, verify } from '@node-rs/argon2'
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

/** Argon2id with OWASP's minimum: 19 MiB and about 5 ms. */
export function hashPassword(text: string): Promise<string> {
  return inTurn(() => hash(text, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }))
}

export function isPassword(text: string, passwordHash: string): Promise<boolean> {
  return inTurn(() => verify(passwordHash, text))
}

/** Not more than four at a time: their memory, and the threads that everything else needs, too. */
async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  // Who is woken takes over the place of who has finished: nobody can come in between.
  if (running >= atATimeMax) await new Promise<void>((resolve) => waiting.push(resolve))
  else running++
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}
