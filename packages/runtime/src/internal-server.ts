import { once } from 'node:events'
import { createServer } from 'node:http'
import { listen } from './listen.ts'
import type { Running } from './running.ts'

export type InternalAnswer = { status: number; body: object | string; type?: string }

/** A registry of metrics, such as prom-client's. */
type MetricsRegistry = { metrics(): Promise<string>; readonly contentType: string }

export async function answerMetrics(registry: MetricsRegistry): Promise<InternalAnswer> {
  return { status: 200, body: await registry.metrics(), type: registry.contentType }
}

/** GET by path, without a key: health and metrics for operators, on METRICS_HOST and METRICS_PORT. */
export async function startInternalServer(
  { host, port }: { host: string; port: number },
  routes: { [path: string]: () => InternalAnswer | Promise<InternalAnswer> },
): Promise<Running & { port: number }> {
  async function answer(path: string): Promise<InternalAnswer> {
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined
    try {
      return (await route?.()) ?? { status: 404, body: { ok: false } }
    } catch {
      return { status: 500, body: { ok: false } }
    }
  }

  const server = createServer(async (request, response) => {
    const { status, body, type = 'application/json' } = await answer((request.url ?? '').split('?')[0] ?? '')
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const listening = await listen(server, { host, port, variable: 'METRICS_PORT' })

  return {
    port: listening,
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
