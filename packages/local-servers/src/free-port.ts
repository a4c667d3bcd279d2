import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ports that the system gives to outgoing connections and to listeners on port 0 (Linux from 32768,
 * macOS from 49152): no other program gets one of these while the program that it is meant for starts or is down.
 */
const range = { from: 20_000, to: 32_768 }
/** Test files that run side by side choose from different parts: a port may be chosen long before it is used. */
const parts = 4
const part = Number(process.env.VITEST_POOL_ID ?? 0) % parts
const given = new Set<number>()

/** A port of 127.0.0.1 that is free now: the preferred one if it is, else any that was not asked for before. */
export async function freePort(preferred = 0): Promise<number> {
  if (preferred !== 0 && (await isFree(preferred))) return preferred
  for (;;) {
    const port = range.from + parts * randomInt(Math.floor((range.to - range.from) / parts)) + part
    if (given.has(port)) continue
    given.add(port)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** Throws a sentence that says which option chooses another port. 0 is any port. */
export async function requireFreePort(port: number, what: string, option: string): Promise<void> {
  if (port === 0 || (await isFree(port))) return
  throw new Error(
    `Port ${port} (${what}) is used by another program. Stop it, or choose another: npm start -- ${option} <port>`,
  )
}
