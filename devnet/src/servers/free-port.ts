import { createServer } from 'node:net'

/** A port of 127.0.0.1 that is free now: the preferred one if it is, else any. */
export async function freePort(preferred = 0): Promise<number> {
  if (preferred !== 0 && !(await isFree(preferred))) return freePort()
  return preferred === 0 ? listenOnce(0) : preferred
}

async function isFree(port: number): Promise<boolean> {
  return listenOnce(port).then(
    () => true,
    () => false,
  )
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      const taken = typeof address === 'object' && address ? address.port : port
      server.close(() => resolve(taken))
    })
  })
}

/** Throws a sentence that says which option chooses another port. 0 is any port. */
export async function requireFreePort(port: number, what: string, option: string): Promise<void> {
  if (port === 0 || (await isFree(port))) return
  throw new Error(
    `Port ${port} (${what}) is used by another program. Stop it, or choose another: npm start -- ${option} <port>`,
  )
}
