import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { publicAddress } from './settings.ts'

export type MediaHost = {
  url(path: string): string
  /** The number of requests to the private address. */
  secretsGiven(): number
  /** From here on every path is answered well. */
  heal(): void
  close(): void
}

const pdf = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n')
const mebibyte = 2 ** 20

/** Answers every path in its own bad way, and `/file` well. */
export async function openMediaHost(): Promise<MediaHost> {
  let secretsGiven = 0
  const bomb = gzipSync(Buffer.alloc(100 * mebibyte))
  const redirect = (location: string) => (_: unknown, response: ServerResponse) =>
    response.writeHead(302, { location }).end()

  const good: RequestListener = (_, response) => response.end(pdf)

  const pages: Record<string, RequestListener> = {
    '/file': good,
    '/drip': (_, response) => {
      response.writeHead(200, { 'content-length': 10_000 })
      drip(response)
    },
    // As much as fits, and then no end.
    '/heavy-drip': (_, response) => {
      for (let size = 0; size < 15; size++) response.write(Buffer.alloc(mebibyte, 7))
      drip(response)
    },
    '/endless': (_, response) => pour(response),
    '/bomb': (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    '/circle': redirect('/circle'),
    '/to-file': redirect('file:///etc/passwd'),
    '/to-loopback': (_, response) => redirect(`http://127.0.0.1:${port}/secret`)(_, response),
    '/secret': (_, response) => {
      secretsGiven += 1
      response.end(pdf)
    },
    '/truncated': (_, response) => {
      response.writeHead(200, { 'content-length': 5000 })
      response.write(pdf, () => response.destroy())
    },
  }
  let isHealed = false
  const server = createServer((request, response) => {
    const page = isHealed ? good : pages[request.url ?? '']
    page?.(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: (path) => `http://[${publicAddress}]:${port}${path}`,
    secretsGiven: () => secretsGiven,
    heal() {
      isHealed = true
      server.closeAllConnections()
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write('x'), 100)
  response.on('close', () => clearInterval(timer))
}

function pour(response: ServerResponse): void {
  while (!response.destroyed && response.write(Buffer.alloc(65_536)));
  response.once('drain', () => pour(response))
}
