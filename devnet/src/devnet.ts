import { freePort, requireFreePort } from '@wagate/local-servers/free-port'
import { isServerName } from '@wagate/local-servers/supervisor-messages'
import { type AppSettings, describeApi, describeSimulator, describeWorker } from './app-catalogue.ts'
import type { AppProcessOptions, Ending } from './app-process.ts'
import { type Supervisor, superviseApps } from './app-supervisor.ts'
import { openDataFolder, openTemporaryFolder, readMasterKey, writeEnvironment } from './data-folder.ts'
import type { DevnetOptions } from './devnet-options.ts'
import { type DevnetServers, startServers } from './devnet-servers.ts'
import { describeFailedStart, waitForLine } from './log-tail.ts'
import { collectUndos, type OnClose, untilAborted } from './on-close.ts'
import { takeOneRunLock } from './one-run-lock.ts'
import type { AdminKey } from './prepare-installation.ts'
import { parseSimulatorFacts, type SimulatorFacts } from './simulator-facts.ts'
import { waitUntilReady } from './wait-until-ready.ts'

/** A whole running system. Its processes are called api, worker-1 …, simulator, postgres and redis. */
export type Devnet = {
  apiUrl: string
  databaseUrl: string
  redisUrl: string
  dataFolder: string
  adminKey: AdminKey
  simulator: SimulatorFacts | undefined
  about: DevnetServers['about']
  /** Our programs that run now. */
  names(): string[]
  /** The process number, also of a private server. */
  pid(name: string): number | undefined
  /** Starts what was stopped or killed, or a worker under a new name. A server answers when it resolves. */
  start(name: string): Promise<void>
  /** Stops it cleanly and waits for its end. Says how a program of ours ended. */
  stop(name: string): Promise<Ending | undefined>
  signal(name: string, signal: NodeJS.Signals): void
  /** Resolves when a send would work. */
  waitUntilReady(): Promise<void>
  /** Drains and stops everything. Safe to call twice. */
  close(): Promise<void>
}

const readyMs = 60_000

/** Brings everything up: servers, migration, simulator, API, workers. Resolves when a send would work. */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const { onClose, close } = collectUndos()
  try {
    return await untilAborted(bringUp(options, onClose, close), options.signal)
  } catch (error) {
    await close()
    throw error
  }
}

async function bringUp(
  options: DevnetOptions,
  onClose: OnClose,
  close: () => Promise<void>,
): Promise<Devnet> {
  // Loading it takes as long as starting the servers.
  const loading = import('./prepare-installation.ts')
  const dataFolder = await openData(options, onClose)
  const apiPort = await choosePort(options.apiPort, 'the API', '--port')
  const servers = startServers(options, dataFolder, onClose)
  const apps = superviseApps(options.restart ?? false, {
    report: options.report ?? (() => undefined),
    onStarted: (pid) =>
      void servers.then(({ supervisor }) => supervisor?.tell({ kind: 'watch', pid }), ignore),
    onEnded: (pid) =>
      void servers.then(({ supervisor }) => supervisor?.tell({ kind: 'forget', pid }), ignore),
  })
  onClose(apps.stopAll)
  const smtpPort = options.network === 'live' ? undefined : await freePort()
  const simulating = startSimulator(options, apps, { dataFolder, smtpPort })
  for (const work of [loading, servers, simulating]) work.catch(ignore)
  const settings: AppSettings = {
    dataFolder,
    masterKey: process.env.MASTER_KEY || readMasterKey(dataFolder),
    shards: options.shards ?? 256,
    network: options.network ?? 'simulator',
    apiPort,
    smtpPort,
    compiledIn: options.compiledIn,
    environment: options.environment ?? (() => ({})),
    proxyFor: options.proxyFor ?? (async (_name, url) => url),
  }
  const prepared = prepare(loading, settings, servers)
  const all = Promise.all([prepared, simulating]).then(([known, simulator]) => ({
    ...known,
    simulator: simulator?.facts,
  }))
  const describe = (name: string): AppProcessOptions =>
    name === 'api' ? describeApi(settings, all) : describeWorker(settings, name, all)
  const workers = Array.from({ length: options.workers ?? 2 }, (_, index) => `worker-${index + 1}`)
  // They load while the servers start.
  const starting = ['api', ...workers].map((name) => apps.start(describe(name)))
  const { databaseUrl, redisUrl, about, supervisor, adminKey } = await all
  const simulator = await simulating
  const apiUrl = `http://127.0.0.1:${apiPort}`
  await waitUntilReady(apiUrl, readyMs, () => {
    const ended = starting.find((app) => app.hasEnded())
    return ended && describeFailedStart(ended)
  })

  return {
    apiUrl,
    databaseUrl,
    redisUrl,
    dataFolder,
    adminKey,
    simulator: simulator?.facts,
    about,
    names: apps.names,
    pid: (name) => (isServerName(name) ? supervisor?.[name]?.pid : apps.find(name)?.pid),
    async start(name) {
      if (isServerName(name)) await supervisor?.start(name)
      else if (name === 'simulator') await simulator?.start()
      else {
        // One that was killed a moment ago can still be there.
        await apps.untilEnded(name)
        apps.start(describe(name))
      }
    },
    async stop(name) {
      if (!isServerName(name)) return apps.stop(name)
      await supervisor?.stop(name)
      return undefined
    },
    signal(name, signal) {
      const serverPid = isServerName(name) ? supervisor?.[name]?.pid : undefined
      if (serverPid) process.kill(serverPid, signal)
      else apps.signal(name, signal)
    },
    waitUntilReady: () => waitUntilReady(apiUrl, readyMs, () => undefined),
    close,
  }
}

async function openData(options: DevnetOptions, onClose: OnClose): Promise<string> {
  if (!options.dataFolder) return openTemporaryFolder(onClose)
  openDataFolder(options.dataFolder)
  const lock = await takeOneRunLock(options.dataFolder)
  onClose(lock.release)
  return options.dataFolder
}

async function choosePort(port = 0, what: string, option: string): Promise<number> {
  if (port !== 0) await requireFreePort(port, what, option)
  return port === 0 ? freePort() : port
}

/** The servers with a prepared database, and their addresses for tools outside. */
async function prepare(
  loading: Promise<typeof import('./prepare-installation.ts')>,
  { dataFolder, masterKey, shards, network }: AppSettings,
  starting: Promise<DevnetServers>,
): Promise<DevnetServers & { adminKey: AdminKey }> {
  const servers = await starting
  writeEnvironment(dataFolder, {
    DATABASE_URL: servers.databaseUrl,
    REDIS_URL: servers.redisUrl,
    MASTER_KEY: masterKey,
    SHARDS: String(shards),
    WHATSAPP_NETWORK: network,
  })
  const { prepareInstallation } = await loading
  const { databaseUrl } = servers
  const adminKey = await prepareInstallation({ databaseUrl, shards, network, dataFolder })
  return { ...servers, adminKey }
}

type RunningSimulator = { facts: SimulatorFacts; start(): Promise<void> }

/** The simulated WhatsApp. Its ports stay the same when it is started again. */
async function startSimulator(
  options: DevnetOptions,
  apps: Supervisor,
  { dataFolder, smtpPort }: Pick<AppSettings, 'dataFolder' | 'smtpPort'>,
): Promise<RunningSimulator | undefined> {
  if (smtpPort === undefined) return undefined
  const controlPort = await choosePort(
    options.simulatorPort,
    "the simulator's control interface",
    '--simulator-port',
  )
  const ports = { controlPort, port: await freePort(), smtpPort }
  const environment = options.environment ?? (() => ({}))
  const start = () =>
    waitForLine(
      apps.start(describeSimulator({ dataFolder, environment, compiledIn: options.compiledIn }, ports)),
      parseSimulatorFacts,
    )
  const facts = await start()
  return { facts, start: async () => void (await start()) }
}

function ignore(): void {}
