import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

/** Resolves with the port when the server listens. Throws a sentence that names the variable of the port. */
export async function listen(
  server: Server,
  { host, port, variable }: { host: string; port: number; variable: string },
): Promise<number> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'another program uses it' : `${code}`
    throw new Error(`Cannot listen on ${host}:${port} (${reason}). Choose another port with ${variable}.`)
  }
  return (server.address() as AddressInfo).port
}
