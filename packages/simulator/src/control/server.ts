import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { refuseUnknownFields } from '../network/known-fields.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import type { Actions } from './actions.ts'
import type { ShownFile } from './media-actions.ts'
import { servePage } from './page.ts'
import { readBody } from './read-body.ts'
import { findRoute } from './routes.ts'

/** The control interface over HTTP: a thin layer over the actions. */
export function createControlServer(actions: Actions): Server {
  const server = createServer((request, response) => {
    void answer(actions, request, response).catch((error: unknown) => sendError(response, error))
  })
  // A busy client that takes an idle connection up again must not find that it was closed meanwhile.
  server.keepAliveTimeout = 0
  return server
}

async function answer(actions: Actions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  refuseOtherSites(request)
  const url = new URL(request.url ?? '/', 'http://control')
  if (request.method === 'GET' && (await servePage(url.pathname, response))) return
  const route = findRoute(request.method ?? 'GET', url.pathname)
  if (!route)
    throw new SimulatorError('Unknown path or method. reference.md of the simulator lists them.', 404)
  const body = request.method === 'POST' ? await readBody(request) : {}
  refuseUnknownFields(body, route.method === 'POST' ? route.fields : [], 'The body')
  refuseUnknownFields(Object.fromEntries(url.searchParams), route.query ?? [], 'The query')
  const result = await route.run({ actions, params: route.params, query: url.searchParams, body })
  if (route.file) return sendFile(response, result as ShownFile)
  if (Array.isArray(result) && route.ndjson) {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for (const line of result) response.write(`${JSON.stringify(line)}\n`)
    response.end()
    return
  }
  sendJson(response, 200, result)
}

/** Keeps other sites in the same browser from controlling the phones, even if their names resolve to loopback. */
function refuseOtherSites(request: IncomingMessage): void {
  const { origin, host } = request.headers
  const isLocal = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host ?? '')
  if (!isLocal || (origin !== undefined && origin !== `http://${host}`)) {
    throw new SimulatorError('Requests from other sites are refused. Call the simulator directly.', 403)
  }
}

/** Types that a browser shows without running anything. Others are downloads. */
const shownTypes = /^(image\/(png|jpeg|webp|gif)|audio\/[\w.+-]+|video\/[\w.+-]+)$/

/** Contacts choose the bytes and the type: nothing of it may run in the page. */
function sendFile(response: ServerResponse, { body, mime, filename }: ShownFile): void {
  const [type = ''] = (mime ?? '').toLowerCase().split(';')
  const isShown = shownTypes.test(type)
  const name = encodeURIComponent((filename ?? 'file').toWellFormed())
  response
    .writeHead(200, {
      'content-type': isShown ? type : 'application/octet-stream',
      'content-disposition': `${isShown ? 'inline' : 'attachment'}; filename*=UTF-8''${name}`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, max-age=3600',
    })
    .end(body)
}

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
  } else if (error instanceof SimulatorError) {
    sendJson(response, error.status, { ok: false, error: error.message })
  } else {
    sendJson(response, 500, { ok: false, error: error instanceof Error ? error.message : 'Internal error' })
  }
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value))
}
