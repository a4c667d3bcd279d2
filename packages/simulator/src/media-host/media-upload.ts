import type { IncomingMessage, ServerResponse } from 'node:http'
import { findFile } from '../handset/find-file.ts'
import type { Network } from '../network/network.ts'
import { serveServiceWorker } from './service-worker.ts'

const uploadBytesMax = 200 * 1024 * 1024

/** The hosts of WhatsApp other than the chat server: store encrypted files, and name the current version, over plain HTTP. */
export function serveMedia(network: Network, request: IncomingMessage, response: ServerResponse): void {
  const path = new URL(request.url ?? '/', 'http://media').pathname
  const kind = /^\/(?:o1\/)?mms\/([a-z-]+)\//.exec(path)?.[1]
  if (request.method === 'POST' && kind) {
    void takeUpload(network, kind, request, response).catch(() => request.destroy())
    return
  }
  if (request.method === 'GET' && path === '/sw.js') {
    network.counters.version_lookups += 1
    serveServiceWorker(network.webVersion, response)
    return
  }
  const file = request.method === 'GET' ? findFile(network, path) : 404
  if (typeof file === 'number') response.writeHead(file).end()
  else response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file)
}

async function takeUpload(
  network: Network,
  kind: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > uploadBytesMax) {
      response.writeHead(413, { connection: 'close' }).end()
      return
    }
    chunks.push(chunk)
  }
  const directPath = network.media.add(kind, Buffer.concat(chunks))
  network.counters.uploads += 1
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ url: `https://${network.mediaHost}${directPath}`, direct_path: directPath }))
}
