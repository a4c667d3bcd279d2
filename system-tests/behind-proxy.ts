import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'

type Hold = NonNullable<NonNullable<Parameters<typeof startTcpProxy>[1]>['hold']>

/** A system whose only worker reaches Postgres through a proxy. `database` goes there directly. */
export async function startBehindProxy(
  hold: Hold,
): Promise<{ devnet: Devnet; database: Database; postgres: TcpProxy | undefined; close(): Promise<void> }> {
  let postgres: TcpProxy | undefined
  const devnet = await startDevnet({
    workers: 1,
    shards: 4,
    async proxyFor(name, url) {
      if (!url.startsWith('postgres') || !name.startsWith('worker')) return url
      postgres = await startTcpProxy(url, { hold })
      return postgres.url
    },
  })
  const options = { poolSize: 1, applicationName: 'test', statementTimeoutMs: 4000 }
  const database = openDatabase(devnet.databaseUrl, options)
  return {
    devnet,
    database,
    postgres,
    async close() {
      await closeDatabase(database)
      await devnet.close()
      await postgres?.close()
    },
  }
}
