import { Agent, type IncomingMessage, request as startRequest } from 'node:http'
import { violations } from '@wagate/test-kit/contract'
import { formOf } from './generated-bodies.ts'
import type { GeneratedRequest } from './generated-requests.ts'
import type { InProcessAnswer } from './in-process.ts'

const answerMs = 30_000

/** Like `makeInProcessClient`, but over keep-alive sockets, so that Node's HTTP parser is tested as well. */
export function makeSocketClient(baseUrl: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })

  async function ask({ method, path, query, headers, body }: GeneratedRequest): Promise<InProcessAnswer> {
    const search = formOf(query)
    const url = new URL(`${baseUrl}${path}${search && `?${search}`}`)
    const response = await send(url, method, headers, body === undefined ? undefined : Buffer.from(body))
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const answer = {
      status: response.statusCode ?? 0,
      headers: toHeaders(response.rawHeaders),
      text: Buffer.concat(chunks).toString(),
    }
    return { ...answer, problems: violations(method, url.pathname, answer) }
  }

  function send(
    url: URL,
    method: string,
    headers: Record<string, string>,
    body: Buffer | undefined,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const length = body && { 'content-length': String(body.length) }
      const options = { method, agent, headers: { ...headers, ...length }, timeout: answerMs }
      const sent = startRequest(url, options, resolve)
      // After a response to an unread body, the connection may be closed.
      sent.on('error', reject)
      sent.on('timeout', () => sent.destroy(new Error(`No answer to ${method} ${url.pathname}`)))
      sent.end(body)
    })
  }

  return { ask, close: () => agent.destroy() }
}

function toHeaders(raw: string[]): Headers {
  const headers = new Headers()
  for (let index = 0; index < raw.length; index += 2) headers.append(raw[index] ?? '', raw[index + 1] ?? '')
  return headers
}
