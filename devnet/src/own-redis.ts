import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vendorFolder } from './devnet-servers.ts'
import { askRedis } from './servers/ask-redis.ts'
import { startKeeper } from './servers/keeper.ts'

/** A Redis of a test's own: what is set counts for all who use a server. */
export type OwnRedis = {
  url: string
  set(name: string, value: string): Promise<void>
  close(): Promise<void>
}

export async function startOwnRedis(): Promise<OwnRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-redis-'))
  const keeper = await startKeeper({
    folder,
    logFolder: join(folder, 'logs'),
    vendorFolder,
    postgres: false,
    redis: true,
    durable: false,
  })
  const url = keeper.redis?.url ?? ''
  return {
    url,
    async set(name, value) {
      const [answer] = await askRedis(new URL(url), [['CONFIG', 'SET', name, value]])
      if (answer !== '+OK') throw new Error(`Redis refuses ${name}: ${answer}`)
    },
    close: keeper.close,
  }
}
