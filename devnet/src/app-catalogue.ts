import { join } from 'node:path'
import { type AppProcessOptions, repository } from './app-process.ts'
import { type SimulatorFacts, simulatorEnvironment } from './simulator-facts.ts'

/** The settings that all programs of one devnet share. */
export type AppSettings = {
  dataFolder: string
  masterKey: string
  shards: number
  network: 'simulator' | 'live'
  apiPort: number
  /** Of the simulator's mail server. Without one, the API sends no mails. */
  smtpPort?: number | undefined
  /** Where compiled programs are. Without it they run from source. */
  compiledIn: string | undefined
  environment(name: string): NodeJS.ProcessEnv
  proxyFor(name: string, url: string): Promise<string>
}

/** Where the servers are, once they are ready and the database is prepared. */
type AppServers = { databaseUrl: string; redisUrl: string }
type ServersAndSimulator = AppServers & { simulator: SimulatorFacts | undefined }

/** Without `smtpPort` it has no mail server. */
export type SimulatorPorts = { port: number; controlPort: number; smtpPort?: number }

export function describeSimulator(
  settings: Pick<AppSettings, 'dataFolder' | 'environment' | 'compiledIn'>,
  { port, controlPort, smtpPort }: SimulatorPorts,
): AppProcessOptions {
  const state = join(settings.dataFolder, 'simulator')
  return {
    name: 'simulator',
    ...programOf(settings, 'packages/simulator', 'cli'),
    args: [
      ...['--port', String(port), '--control-port', String(controlPort), '--state', state],
      ...(smtpPort === undefined ? [] : ['--smtp-port', String(smtpPort)]),
    ],
    env: { ...inherited(), ...settings.environment('simulator') },
    logFolder: logFolderOf(settings.dataFolder),
  }
}

/** As in the Dockerfile: a larger young generation halves the number of minor collections. */
const apiNodeOptions = ['--max-semi-space-size=32', '--expose-gc']
/** As in the Dockerfile: one thread for garbage, a smaller young generation than in Node 24, and fewer full collections. */
const workerNodeOptions = [
  '--v8-pool-size=1',
  '--max-semi-space-size=16',
  '--heap-growing-percent=100',
  '--no-incremental-marking-task',
  '--expose-gc',
]

export function describeApi(settings: AppSettings, servers: Promise<ServersAndSimulator>): AppProcessOptions {
  const port = String(settings.apiPort)
  // Whoever publishes it sets another one.
  const links = settings.network === 'live' &&
    !process.env.PUBLIC_URL && { PUBLIC_URL: `http://127.0.0.1:${port}` }
  const mails = settings.smtpPort !== undefined &&
    !process.env.SMTP_URL && { SMTP_URL: `smtp://127.0.0.1:${settings.smtpPort}` }
  const own = { PORT: port, ...links, ...mails, ...settings.environment('api') }
  return {
    name: 'api',
    ...programOf(settings, 'apps/api', 'main'),
    nodeOptions: apiNodeOptions,
    env: { ...common(settings), ...own },
    ahead: {
      load: moduleOf(settings, 'apps/api', 'start'),
      env: servers.then(async ({ simulator, ...known }) => ({
        ...(await addressesOf(settings, 'api', known)),
        // For people. It needs no other address of the simulated network.
        ...(simulator && { SIMULATOR_URL: simulator.controlUrl }),
        ...own,
      })),
    },
    logFolder: logFolderOf(settings.dataFolder),
  }
}

export function describeWorker(
  settings: AppSettings,
  name: string,
  servers: Promise<ServersAndSimulator>,
): AppProcessOptions {
  const own = { WORKER_NAME: name, ...settings.environment(name) }
  return {
    name,
    ...programOf(settings, 'apps/worker', 'main'),
    preload: moduleOf(settings, 'apps/worker', 'preload'),
    nodeOptions: workerNodeOptions,
    env: { ...common(settings), ...own },
    ahead: {
      load: moduleOf(settings, 'apps/worker', 'start'),
      env: servers.then(async (known) => ({ ...(await addressesOf(settings, name, known)), ...own })),
    },
    logFolder: logFolderOf(settings.dataFolder),
  }
}

type Built = Pick<AppSettings, 'compiledIn'>

function programOf(
  built: Built,
  part: string,
  name: string,
): Pick<AppProcessOptions, 'entry' | 'isCompiled'> {
  return { entry: moduleOf(built, part, name), isCompiled: built.compiledIn !== undefined }
}

/** Of an app or a package. Relative to the repository, unless it was compiled elsewhere. */
function moduleOf({ compiledIn }: Built, part: string, name: string): string {
  return compiledIn === undefined ? `${part}/src/${name}.ts` : join(compiledIn, part, 'dist', `${name}.js`)
}

const compileCache = join(repository, 'node_modules/.cache/node')

export function logFolderOf(dataFolder: string): string {
  return join(dataFolder, 'logs')
}

/**
 * The simulated WhatsApp restricts nobody for sending too much, so people can try sending freely. Their webhooks and files
 * are on this machine.
 */
const careless = {
  SEND_RECIPIENT_INTERVAL_MS: '0',
  NEW_CONTACTS_PER_DAY: '0',
  ALLOW_PRIVATE_MEDIA_HOSTS: 'true',
  ALLOW_PRIVATE_WEBHOOK_HOSTS: 'true',
}

function common(settings: AppSettings): NodeJS.ProcessEnv {
  return {
    HOST: '127.0.0.1',
    METRICS_PORT: '0',
    ...(settings.network === 'simulator' && careless),
    ...inherited(),
    MEDIA_FOLDER: join(settings.dataFolder, 'media'),
    MASTER_KEY: settings.masterKey,
    SHARDS: String(settings.shards),
    WHATSAPP_NETWORK: settings.network,
  }
}

async function addressesOf(
  { proxyFor }: AppSettings,
  name: string,
  { databaseUrl, redisUrl, simulator }: AppServers & { simulator?: SimulatorFacts | undefined },
): Promise<NodeJS.ProcessEnv> {
  return {
    DATABASE_URL: await proxyFor(name, databaseUrl),
    REDIS_URL: await proxyFor(name, redisUrl),
    ...(simulator &&
      simulatorEnvironment({ ...simulator, socketUrl: await proxyFor(name, simulator.socketUrl) })),
  }
}

/** Our environment without the variables of npm and of a test runner. */
function inherited(): NodeJS.ProcessEnv {
  // From 22.1 Node keeps compiled code here, which saves a third of a start. Earlier versions ignore the variable.
  const entries = Object.entries({ NODE_COMPILE_CACHE: compileCache, ...process.env })
  return Object.fromEntries(entries.filter(([name]) => !/^(npm_|VITEST|TEST_|NODE_ENV$)/.test(name)))
}
