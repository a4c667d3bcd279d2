import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export type MediaHost = { origin: string; port: number; hits(): number; close(): void }

/** A web server that answers each path in its own way, and counts who asks. */
export async function openMediaHost(
  pages: Record<string, RequestListener>,
  { address = '127.0.0.1', port = 0 } = {},
): Promise<MediaHost> {
  let hits = 0
  const server = createServer((request, response) => {
    hits += 1
    const page = pages[request.url ?? '']
    if (page) page(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve, reject) =>
    server.on('error', reject).listen(port, address, () => resolve()),
  )
  const bound = (server.address() as AddressInfo).port
  return {
    origin: `http://${address.includes(':') ? `[${address}]` : address}:${bound}`,
    port: bound,
    hits: () => hits,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
