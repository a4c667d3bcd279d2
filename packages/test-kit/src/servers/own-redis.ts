import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askRedis } from '@wagate/local-servers/ask-redis'
import { startServerSupervisor } from '@wagate/local-servers/server-supervisor'
import { vendorFolder } from '@wagate/local-servers/vendor-folder'

/** A separate Redis, for tests that change its configuration, which applies to all databases. */
export type OwnRedis = {
  url: string
  set(name: string, value: string): Promise<void>
  close(): Promise<void>
}

export async function startOwnRedis(): Promise<OwnRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-redis-'))
  const supervisor = await startServerSupervisor({
    folder,
    logFolder: join(folder, 'logs'),
    vendorFolder,
    postgres: false,
    redis: true,
    durable: false,
  })
  const url = supervisor.redis?.url ?? ''
  return {
    url,
    async set(name, value) {
      const [answer] = await askRedis(new URL(url), [['CONFIG', 'SET', name, value]])
      if (answer !== '+OK') throw new Error(`Redis refuses ${name}: ${answer}`)
    },
    close: supervisor.close,
  }
}
