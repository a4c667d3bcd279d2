import { type ServerSupervisor, startServerSupervisor } from '@wagate/local-servers/server-supervisor'
import type { ServerName } from '@wagate/local-servers/supervisor-messages'
import { vendorFolder } from '@wagate/local-servers/vendor-folder'
import { logFolderOf } from './app-catalogue.ts'
import type { DevnetOptions } from './devnet-options.ts'
import type { OnClose } from './on-close.ts'

export type DevnetServers = {
  databaseUrl: string
  redisUrl: string
  /** What they are and where they come from. */
  about: { postgres: string; redis: string }
  /** Undefined when both servers were given. */
  supervisor: ServerSupervisor | undefined
}

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
      supervisor: undefined,
    }

  const starting = startServerSupervisor(
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
      onSupervisorEnded: () => options.onBroken?.('The process that keeps Postgres and Redis has ended.'),
    },
    options.signal,
  )
  onClose(async () => (await starting.catch(() => undefined))?.close())
  const supervisor = await starting

  async function restartServer(server: ServerName): Promise<void> {
    if (!options.restart) return
    report(`${server} ended unexpectedly. Starting it again`)
    await supervisor
      .start(server)
      .catch((error) => options.onBroken?.(`${server} cannot be started: ${error.message}`))
  }

  return {
    databaseUrl: databaseUrl ?? supervisor.postgres?.url ?? '',
    redisUrl: redisUrl ?? supervisor.redis?.url ?? '',
    about: {
      postgres: databaseUrl ? 'DATABASE_URL' : (supervisor.postgres?.about ?? ''),
      redis: redisUrl ? 'REDIS_URL' : (supervisor.redis?.about ?? ''),
    },
    supervisor,
  }
}
