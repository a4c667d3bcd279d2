import { Agent, type IncomingHttpHeaders, request } from 'node:http'

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
  close(): void
}

const answerMs = 60_000

export function openGateway(apiUrl: string, apiKey: string, connections: number): Gateway {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  return {
    call(operation, fields) {
      return new Promise((resolve, reject) => {
        const payload = JSON.stringify(fields)
        const headers = {
          'x-api-key': apiKey,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload),
        }
        const sent = request(
          `${apiUrl}/${operation}`,
          { method: 'POST', agent, headers, timeout: answerMs },
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
    },
    close: () => agent.destroy(),
  }
}
