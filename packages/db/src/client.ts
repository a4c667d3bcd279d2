import { Socket } from 'node:net'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { schema } from './schema.ts'
import { readTlsSettings } from './tls.ts'

/** Drizzle's query builder, and postgres.js as `$client` for SQL (docs/decisions/0026-query-builder-and-sql.md). */
export type Database = PostgresJsDatabase<typeof schema> & { $client: postgres.Sql; $onEvents?: OnEvents }

/** Called with each account that has a new event of a device, or of a message marked as read, once it is stored. */
type OnEvents = (accountId: number) => void

/** A rejection rolls the transaction back. */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0]

export type DatabaseOptions = {
  poolSize: number
  applicationName: string
  /** Enforced by Postgres for each statement. */
  statementTimeoutMs: number
  /** With `lazy`, a crash of Postgres may undo the commits of its last half second. A crash of this process does not. */
  commit?: 'durable' | 'lazy'
  /**
   * With `generic`, each connection plans a statement once, for all values. Otherwise Postgres also plans the first five
   * executions for their values. Has no effect if DATABASE_URL disables prepared statements.
   */
  plans?: 'auto' | 'generic'
  /** A connection is closed when Postgres does not answer for this long. 6 s by default. */
  silenceMs?: number
  onEvents?: OnEvents
}

/** A new connection plans each statement again, which takes Postgres 8 to 30 ms. */
const idleSeconds = 60

/** Of each connection. The failures are those of its pool since the last answer to a query. */
const reconnectPause = { firstMs: 50, maxMs: 1000 }

/** The first query opens the first connection. Timestamps in results of `$client` are text. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const tls = readTlsSettings(url)
  const client = postgres(tls.url, {
    max: options.poolSize,
    ssl: tls.ssl,
    idle_timeout: idleSeconds,
    connect_timeout: 5,
    backoff: (failures: number) => growingPauseMs(failures + 1, reconnectPause) / 1000,
    onnotice: () => undefined,
    ...withSocket(options.silenceMs ?? silenceMsDefault),
    connection: {
      application_name: options.applicationName,
      statement_timeout: options.statementTimeoutMs,
      idle_in_transaction_session_timeout: 2000,
      ...(options.commit === 'lazy' && { synchronous_commit: 'off' }),
    },
  })
  // postgres.js reads it when it connects. pgbouncer, with which statements are not prepared, would refuse it.
  if (options.plans === 'generic' && client.options.prepare)
    client.options.connection.plan_cache_mode = 'force_generic_plan'
  return Object.assign(drizzle(client, { schema }), options.onEvents && { $onEvents: options.onEvents })
}

/** Waits up to 2 s for running statements, then closes. Safe to call twice. */
export async function closeDatabase(db: Database): Promise<void> {
  await db.$client.end({ timeout: 2 })
}

/** Without this limit, a network partition could block every connection of the pool indefinitely. */
const silenceMsDefault = 6000

type Address = { host: string[]; port: number[]; path?: string }

/** postgres.js reads this option but does not declare it (src/connection.js, createSocket). */
function withSocket(silenceMs: number): { socket: (address: Address) => Socket } {
  return {
    /** Returned while it is still connecting: postgres.js detects a failure by the socket's close event and retries. */
    socket({ host, port, path }) {
      const socket = new WatchedSocket(silenceMs)
      return path
        ? socket.connect(path)
        : socket.connect({ host: host[0] ?? 'localhost', port: port[0] ?? 5432 })
    },
  }
}

/** Closes when Postgres does not answer in time. Keeps its listener when postgres.js removes all listeners to start TLS. */
class WatchedSocket extends Socket {
  /** Set by the patch of postgres.js (docs/decisions/0004-postgres-patch.md). */
  declare isAwaited: () => boolean
  readonly #silenceMs: number

  constructor(silenceMs: number) {
    super()
    this.#silenceMs = silenceMs
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
      if (!this.isAwaited()) return
      const before = this.#traffic()
      // In this turn of the event loop, an answer may still have to be read, and a query of the last turn to be written.
      setImmediate(() => {
        if (this.#traffic() !== before) return
        const error = new Error(`Postgres was silent for ${this.#silenceMs} ms`)
        this.destroy(Object.assign(error, { code: 'ETIMEDOUT' }))
      })
    })
  }

  #traffic(): number {
    return this.bytesRead + this.bytesWritten
  }
}
