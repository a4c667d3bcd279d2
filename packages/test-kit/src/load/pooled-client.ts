import { Agent, type IncomingHttpHeaders, type RequestOptions, request } from 'node:http'

export type Answer = {
  status: number
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
  /** The body as it came. */
  text: string
}

/** A client of the API over a fixed number of connections that stay open. */
export type Gateway = {
  call(operation: string, fields: Record<string, unknown>): Promise<Answer>
  /** The same with GET. */
  get(operation: string, fields: Record<string, string | number>): Promise<Answer>
  close(): void
}

const answerMs = 60_000

export function openGateway(apiUrl: string, apiKey: string, connections: number): Gateway {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })

  function ask(path: string, { headers, ...options }: RequestOptions, payload?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        `${apiUrl}/${path}`,
        { ...options, agent, headers: { ...headers, 'x-api-key': apiKey }, timeout: answerMs },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            try {
              const text = Buffer.concat(chunks).toString()
              const { statusCode: status = 0, headers } = response
              resolve({ status, headers, body: JSON.parse(text), text })
            } catch (error) {
              reject(error)
            }
          })
        },
      )
      sent.on('error', reject)
      sent.on('timeout', () => sent.destroy(new Error(`No answer in ${answerMs} ms`)))
      sent.end(payload)
    })
  }

  return {
    call(operation, fields) {
      const payload = JSON.stringify(fields)
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }
      return ask(operation, { method: 'POST', headers }, payload)
    },
    get(operation, fields) {
      const texts = Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])
      const query = new URLSearchParams(texts)
      return ask(`${operation}?${query}`, { method: 'GET' })
    },
    close: () => agent.destroy(),
  }
}
