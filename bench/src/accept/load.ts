import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { quantile } from '@wagate/test-kit/statistics'

type LoadResult = { answers: number; failures: number; ms: number; p99Ms: number }

type Load = {
  url: string
  bodies: string[]
  headers: Record<string, string>
  connections: number
  ms: number
}

/**
 * Posts to `/send-message` over connections that each wait for the response before the next request. The client shares
 * the CPU with the server, so it parses only what these responses need: a status line and a content-length. (autocannon
 * takes nearly twice the CPU per request.)
 */
export async function load({ url, bodies, headers, connections, ms }: Load): Promise<LoadResult> {
  const { hostname, port, host } = new URL(url)
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const requests = bodies.map((body) =>
    Buffer.from(
      `POST /send-message HTTP/1.1\r\n${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  )
  const latenciesMs: number[] = []
  let failures = 0
  let next = 0
  const startedMs = performance.now()

  async function run(socket: Socket): Promise<void> {
    await once(socket, 'connect')
    await new Promise<void>((resolve, reject) => {
      let askedMs = 0
      let answer = ''
      const ask = () => {
        askedMs = performance.now()
        if (askedMs - startedMs > ms) return resolve()
        answer = ''
        socket.write(requests[next++ % requests.length] as Buffer)
      }
      socket.on('error', reject)
      socket.on('close', () => reject(new Error(`${url} closed a connection`)))
      socket.on('data', (chunk) => {
        answer += chunk.toString('latin1')
        if (!isComplete(answer)) return
        latenciesMs.push(performance.now() - askedMs)
        if (!answer.startsWith('HTTP/1.1 200')) failures++
        ask()
      })
      ask()
    })
    socket.removeAllListeners('close').destroy()
  }

  const sockets = Array.from({ length: connections }, () => connect(Number(port), hostname).setNoDelay())
  await Promise.all(sockets.map(run))
  return {
    answers: latenciesMs.length,
    failures,
    ms: performance.now() - startedMs,
    p99Ms: quantile(latenciesMs, 0.99),
  }
}

const lengthHeader = /\r\ncontent-length: (\d+)\r\n/i

function isComplete(answer: string): boolean {
  const headersEnd = answer.indexOf('\r\n\r\n')
  return headersEnd > 0 && answer.length >= headersEnd + 4 + Number(lengthHeader.exec(answer)?.[1])
}
