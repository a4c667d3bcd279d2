import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { type Postgres, startPostgres } from '@wagate/local-servers/postgres'
import { type Standby, startStandby } from '@wagate/test-kit/servers/standby'
import { temporaryFolder } from '@wagate/test-kit/temporary-folder'
import { until } from '@wagate/test-kit/until'
import { onTestFinished } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { migrate } from '../src/migrate.ts'

/** Prepares the loss of what Postgres does from then on and does not flush. Returns the function that causes it. */
export type PrepareLoss = (server: CrashingPostgres) => Promise<() => Promise<void>>

/** What takes a server back to an earlier state. */
export const losses: { [name: string]: PrepareLoss } = {
  async 'a kill of Postgres'(server) {
    const resume = await server.stopFlushing()
    return async () => {
      server.signal('SIGKILL')
      // Before it notices that the others are gone, it would flush.
      resume('SIGKILL')
      await server.start('main')
    }
  },
  async 'a kill of one of its processes'(server) {
    const resume = await server.stopFlushing()
    return async () => {
      process.kill(await findProcess(server.db, 'checkpointer'), 'SIGKILL')
      await until('Postgres ends all its processes', async () => !(await isOpen(server.db)))
      resume('SIGCONT')
      await until('Postgres has recovered', () => isOpen(server.db))
    }
  },
  async 'an older copy of its files'(server) {
    await server.copyTo('copy')
    return async () => {
      await server.stop()
      await server.start('copy')
    }
  },
  async 'the promotion of a standby that is behind'(server) {
    await server.copyTo('standby')
    const standby = await server.startStandby('standby')
    return async () => {
      server.signal('SIGKILL')
      await standby.promote()
      await server.use('standby')
    }
  },
}

/** A durable Postgres of one test. */
export class CrashingPostgres {
  readonly #folder = temporaryFolder()
  readonly #running = new Map<string, Postgres>()
  #name = 'main'
  #pools: { durable: Database; lazy: Database } | undefined

  constructor() {
    onTestFinished(() => this.stop())
  }

  get db(): Database {
    return this.#open.durable
  }

  /** Of claims: a crash may undo its commits. */
  get lazyDb(): Database {
    return this.#open.lazy
  }

  get #open() {
    if (!this.#pools) throw new Error('Postgres does not run')
    return this.#pools
  }

  async start(name: string): Promise<void> {
    await this.#run(name)
    await this.use(name)
  }

  /** Connects to a server that runs. */
  async use(name: string): Promise<void> {
    await this.#disconnect()
    const { url } = this.#server(name)
    const options = { poolSize: 2, applicationName: 'test', statementTimeoutMs: 5000 }
    this.#name = name
    this.#pools = {
      durable: openDatabase(url, options),
      lazy: openDatabase(url, { ...options, commit: 'lazy' }),
    }
  }

  async migrate(): Promise<void> {
    await migrate(this.#server(this.#name).url, { shards: 4 })
  }

  signal(signal: NodeJS.Signals): void {
    this.#server(this.#name).process.signal(signal)
  }

  async stop(): Promise<void> {
    await this.#disconnect()
    for (const server of this.#running.values()) await server.stop()
  }

  /** Until the function is called with what ends that, only durable commits flush. */
  async stopFlushing(): Promise<(signal: 'SIGCONT' | 'SIGKILL') => void> {
    const pid = await findProcess(this.db, 'walwriter')
    process.kill(pid, 'SIGSTOP')
    return (signal) => process.kill(pid, signal)
  }

  /** Copies the files of the stopped server, and starts it again. */
  async copyTo(name: string): Promise<void> {
    await this.stop()
    execFileSync('cp', ['-a', dirname(this.#server('main').folder), join(this.#folder, name)])
    await this.start('main')
  }

  /** Follows the main server until it has everything, and no further. */
  async startStandby(name: string): Promise<Standby> {
    const { url } = this.#server('main')
    const standby = await startStandby(url, join(this.#folder, name), join(this.#folder, `${name}.log`))
    this.#running.set(name, standby.server)
    await standby.stopFollowing()
    return standby
  }

  async #run(name: string): Promise<Postgres> {
    const logFile = join(this.#folder, `${name}.log`)
    const server = await startPostgres({ folder: join(this.#folder, name), logFile, durable: true })
    this.#running.set(name, server)
    return server
  }

  #server(name: string): Postgres {
    const server = this.#running.get(name)
    if (!server) throw new Error(`${name} does not run`)
    return server
  }

  async #disconnect(): Promise<void> {
    const pools = this.#pools
    this.#pools = undefined
    await Promise.all([pools?.durable, pools?.lazy].map((database) => database && closeDatabase(database)))
  }
}

async function findProcess(db: Database, type: string): Promise<number> {
  const [row] = await db.$client<
    { pid: number }[]
  >`SELECT pid FROM pg_stat_activity WHERE backend_type = ${type}`
  if (!row) throw new Error(`There is no ${type}`)
  return row.pid
}

async function isOpen({ $client }: Database): Promise<boolean> {
  return $client`SELECT 1`.then(
    () => true,
    () => false,
  )
}
