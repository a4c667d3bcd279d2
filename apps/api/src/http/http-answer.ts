/**
 * `body` is sent as JSON, `stream` as server-sent events. `content` is anything
 * else, such as the documentation page or a file, null for HEAD.
 */
export type HttpAnswer = {
  status: number
  body?: Record<string, unknown>
  stream?: ReadableStream<Uint8Array<ArrayBuffer>>
  content?: { type: string; bytes: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null }
}

export const jsonType = 'application/json; charset=utf-8'
/** JSON objects, one a line (https://github.com/ndjson/ndjson-spec). */
export const linesType = 'application/x-ndjson'
export const eventStreamType = 'text/event-stream; charset=utf-8'

export function toResponse(
  { status, body, stream, content }: HttpAnswer,
  headers: Record<string, string>,
): Response {
  if (stream) return new Response(stream, { status, headers: withType(headers, eventStreamType) })
  if (body) return new Response(JSON.stringify(body), { status, headers: withType(headers, jsonType) })
  if (content) return new Response(content.bytes, { status, headers: withType(headers, content.type) })
  return new Response(null, { status, headers })
}

function withType(headers: Record<string, string>, type: string): Record<string, string> {
  headers['Content-Type'] = type
  return headers
}
