import { once } from 'node:events'
import type { Server } from 'node:http'
import { checkInstallation } from '@wagate/db/queries/statements/installation'
import { warnOfUnauthenticatedTls } from '@wagate/db/tls'
import { untilAvailable } from '@wagate/db/until-available'
import { refuseEvictingRedis } from '@wagate/queue/redis'
import { answerMetrics, startInternalServer } from '@wagate/runtime/internal-server'
import { listen } from '@wagate/runtime/listen'
import { makeLogger } from '@wagate/runtime/logger'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import { makeApp } from './app.ts'
import type { Config } from './config.ts'
import { openConnections } from './connections.ts'
import { loadCommonPasswords } from './credentials/new-password.ts'
import { makeCommandDispatcher } from './devices/command-dispatcher.ts'
import { makeServer } from './http/server.ts'
import { makeGateway } from './make-gateway.ts'

const drainMs = 8000

/** `fetch` answers without a socket. */
type RunningApi = Running & { url: string; fetch: ReturnType<typeof makeApp>['fetch'] }

/** Waits for Postgres however long that takes, then listens. Redis may become available later. */
export async function startApi(config: Config): Promise<RunningApi> {
  const { http, metrics, installation, databaseUrl, redisUrl } = config
  const log = makeLogger('api', config.logLevel)
  const onRedisError = makeOutageLog(log, 'redis').failed
  const connections = openConnections(config, onRedisError)
  warnOfUnauthenticatedTls(databaseUrl, log)
  const closing = new AbortController()

  try {
    await refuseEvictingRedis(redisUrl)
    await untilAvailable(
      () => checkInstallation(connections.db, installation),
      makeOutageLog(log, 'postgres'),
    )
    const dispatcher = makeCommandDispatcher(connections.producer, onRedisError)
    const gateway = makeGateway(config, { log, connections, dispatcher, closing: closing.signal })
    if (config.signUp.mode !== 'off') await loadCommonPasswords()
    const app = makeApp(gateway)
    const internal = await startInternalServer(metrics, {
      '/metrics': () => answerMetrics(gateway.metrics.registry),
    })
    const server = makeServer(app.fetch)
    server.maxConnections = http.connectionsMax
    const address = { host: http.host, port: http.port, variable: 'PORT' }
    const port = await listen(server, address).catch(async (error) => {
      await internal.close()
      throw error
    })
    log.info({ port, metricsPort: internal.port }, 'API listening')

    let closed: Promise<void> | undefined
    async function close(): Promise<void> {
      closing.abort()
      await drain(server)
      await Promise.all([internal.close(), dispatcher.finish(), gateway.context.mailer?.finish()])
      await connections.close()
      log.info('API stopped')
    }
    return {
      url: `http://${http.host === '0.0.0.0' ? '127.0.0.1' : http.host}:${port}`,
      fetch: app.fetch,
      close: () => {
        closed ??= close()
        return closed
      },
    }
  } catch (error) {
    await connections.close()
    throw error
  }
}

/** Waits at most 8 s for requests in progress. */
async function drain(server: Server): Promise<void> {
  const drained = once(server, 'close')
  server.close()
  // A connection that was busy when the server closed would be kept alive after its answer.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const timer = setTimeout(() => server.closeAllConnections(), drainMs)
  await drained
  clearInterval(idle)
  clearTimeout(timer)
}
