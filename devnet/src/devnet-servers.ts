import { fileURLToPath } from 'node:url'
import { logFolderOf } from './app-catalogue.ts'
import type { DevnetOptions } from './devnet-options.ts'
import type { OnClose } from './on-close.ts'
import { type Keeper, startKeeper } from './servers/keeper.ts'
import type { ServerName } from './servers/keeper-messages.ts'

export type DevnetServers = {
  databaseUrl: string
  redisUrl: string
  /** What they are and where they come from. */
  about: { postgres: string; redis: string }
  /** Undefined when both servers are somebody else's. */
  keeper: Keeper | undefined
}

export const vendorFolder = fileURLToPath(new URL('../../.data/vendor', import.meta.url))

/** Postgres and Redis: those that the options name, else private ones. */
export async function startServers(
  options: DevnetOptions,
  dataFolder: string,
  onClose: OnClose,
): Promise<DevnetServers> {
  const { databaseUrl, redisUrl, report = () => undefined } = options
  if (databaseUrl && redisUrl)
    return {
      databaseUrl,
      redisUrl,
      about: { postgres: 'DATABASE_URL', redis: 'REDIS_URL' },
      keeper: undefined,
    }

  const starting = startKeeper(
    {
      folder: dataFolder,
      logFolder: logFolderOf(dataFolder),
      vendorFolder,
      postgres: !databaseUrl,
      redis: !redisUrl,
      durable: options.dataFolder !== undefined,
    },
    {
      onProgress: report,
      onServerEnded: (server) => void restartServer(server),
      onKeeperEnded: () => options.onBroken?.('The process that keeps Postgres and Redis has ended.'),
    },
    options.signal,
  )
  onClose(async () => (await starting.catch(() => undefined))?.close())
  const keeper = await starting

  async function restartServer(server: ServerName): Promise<void> {
    if (!options.restart) return
    report(`${server} ended unexpectedly. Starting it again`)
    await keeper
      .start(server)
      .catch((error) => options.onBroken?.(`${server} cannot be started: ${error.message}`))
  }

  return {
    databaseUrl: databaseUrl ?? keeper.postgres?.url ?? '',
    redisUrl: redisUrl ?? keeper.redis?.url ?? '',
    about: {
      postgres: databaseUrl ? 'DATABASE_URL' : (keeper.postgres?.about ?? ''),
      redis: redisUrl ? 'REDIS_URL' : (keeper.redis?.about ?? ''),
    },
    keeper,
  }
}
