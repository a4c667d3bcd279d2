import { Socket } from 'node:net'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { schema } from './schema.ts'
import { readTlsSettings } from './tls.ts'

/** Drizzle for plain queries, `$client` (postgres.js) for statements that are SQL by nature. */
export type Database = PostgresJsDatabase<typeof schema> & { $client: postgres.Sql }

/** What runs in one transaction; a rejection undoes it. */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0]

export type DatabaseOptions = {
  poolSize: number
  applicationName: string
  /** Server-side limit on one statement. */
  statementTimeoutMs: number
  /** `lazy`: a crash of Postgres itself may undo the commits of its last half second. A crash of ours may not. */
  commit?: 'durable' | 'lazy'
}

/** Connects lazily: the first query opens the first connection. Timestamps of `$client` queries are text. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const tls = readTlsSettings(url)
  const client = postgres(tls.url, {
    max: options.poolSize,
    ssl: tls.ssl,
    idle_timeout: 5,
    connect_timeout: 5,
    backoff: (attempts: number) => Math.min(0.05 * 2 ** attempts, 1),
    onnotice: () => undefined,
    ...withSocket,
    connection: {
      application_name: options.applicationName,
      statement_timeout: options.statementTimeoutMs,
      idle_in_transaction_session_timeout: 2000,
      ...(options.commit === 'lazy' && { synchronous_commit: 'off' }),
    },
  })
  return drizzle(client, { schema })
}

/** Waits ≤ 2 s for what runs, then closes. Safe to call twice. */
export async function closeDatabase(db: Database): Promise<void> {
  await db.$client.end({ timeout: 2 })
}

/** A silent network partition would otherwise hold every connection of the pool for ever. */
const silenceMs = 6000

/** Returned while still connecting: postgres.js reads a failure from the socket's own close, and tries again. */
function openSocket({ host, port, path }: { host: string[]; port: number[]; path?: string }): Socket {
  const socket = new WatchedSocket()
  return path ? socket.connect(path) : socket.connect({ host: host[0] ?? 'localhost', port: port[0] ?? 5432 })
}

/** Ends when Postgres is silent. postgres.js removes all listeners when it starts TLS on it: not this one. */
class WatchedSocket extends Socket {
  constructor() {
    super()
    this.setTimeout(silenceMs)
    this.#watch()
  }

  override removeAllListeners(...event: [] | [string | symbol]): this {
    super.removeAllListeners(...event)
    this.#watch()
    return this
  }

  #watch(): void {
    if (this.listenerCount('timeout') > 0) return
    this.on('timeout', () => {
      const error = new Error(`Postgres was silent for ${silenceMs} ms`)
      this.destroy(Object.assign(error, { code: 'ETIMEDOUT' }))
    })
  }
}

/** postgres.js reads this option but does not declare it (src/connection.js, createSocket). */
const withSocket = { socket: openSocket }
