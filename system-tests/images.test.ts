import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describeSimulator } from '@wagate/devnet/app-catalogue'
import { type AppProcess, startAppProcess } from '@wagate/devnet/app-process'
import { waitForLine } from '@wagate/devnet/log-tail'
import {
  parseSimulatorFacts,
  type SimulatorFacts,
  simulatorEnvironment,
} from '@wagate/devnet/simulator-facts'
import { freePort } from '@wagate/local-servers/free-port'
import { makeGatewayClient } from '@wagate/test-kit/gateway-client'
import { bundledApps } from '@wagate/test-kit/servers/test-bundle'
import {
  createEmptyTestDatabase,
  type TestDatabase,
  testRedisUrl,
} from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { buildImages, type Image } from './images/build-images.ts'

const sender = '15550300001'
const recipient = '15550300002'
const run = promisify(execFile)
const running: ChildProcess[] = []
let folder: string
let images: Map<string, Image>
let simulator: AppProcess
let facts: SimulatorFacts
let database: TestDatabase
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wagate-images-'))
  const ports = { port: await freePort(), controlPort: await freePort() }
  const compiledIn = await bundledApps()
  simulator = startAppProcess(
    describeSimulator({ dataFolder: folder, environment: () => ({}), compiledIn }, ports),
  )
  ;[images, facts, database] = await Promise.all([
    buildImages(join(folder, 'images'), ['migrate', 'api', 'worker']),
    waitForLine(simulator, parseSimulatorFacts),
    createEmptyTestDatabase(),
  ])
  env = {
    PATH: process.env.PATH,
    HOST: '127.0.0.1',
    DATABASE_URL: database.url,
    REDIS_URL: await testRedisUrl(),
    MASTER_KEY: randomBytes(32).toString('base64'),
    WHATSAPP_NETWORK: 'simulator',
    ...simulatorEnvironment(facts),
  }
}, 240_000)

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await simulator?.stop()
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
}, 30_000)

test('the images hold all that migrates, administers, links a sender, sends and stops', async () => {
  const unset = { DATABASE_URL: '' }
  for (const script of ['scripts/migrate.mjs', 'scripts/roles.mjs'])
    await expect(runToEnd('migrate', ['node', script], unset)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^The configuration is not usable:\n {2}DATABASE_URL: is required\n(?!.*\n {4}at )/s,
      ),
    })
  await runToEnd('migrate')
  const secret = randomBytes(16).toString('hex')
  const passwords = {
    POSTGRES_MIGRATE_PASSWORD: secret,
    POSTGRES_API_PASSWORD: secret,
    POSTGRES_WORKER_PASSWORD: secret,
  }
  expect(await runToEnd('migrate', ['node', 'scripts/roles.mjs'], passwords)).toMatch('The roles are ready')
  await runToEnd('migrate')
  expect(await operate('worker', 'shards', 'set', '16')).toMatch('16 shards')
  expect(await operate('worker', 'keys', 'rotate')).toMatch('current master key')
  const apiKey = (await operate('api', 'admin', 'create', '--email', 'admin@example.com')).trim()
  const [apiPort, apiMetricsPort, workerMetricsPort] = [await freePort(), await freePort(), await freePort()]
  const worker = start('worker', { METRICS_PORT: String(workerMetricsPort) })
  const api = start('api', { PORT: String(apiPort), METRICS_PORT: String(apiMetricsPort) })
  await isHealthy('worker', workerMetricsPort)
  await isHealthy('api', apiPort)

  const gateway = makeGatewayClient({
    apiUrl: `http://127.0.0.1:${apiPort}`,
    simulator: facts,
    adminKey: { apiKey, isNew: true },
  })
  await gateway.link(sender)
  const sent = await gateway.call('send-message', { sender, number: recipient, message: 'Hello', wait: 10 })
  expect(sent).toMatchObject({ status: 200, body: { ok: true } })
  await gateway.untilStatus(String(sent.body.message_id), 'delivered')
  expect(await gateway.phone(recipient, sender)).toMatchObject([{ text: 'Hello', duplicates: 0 }])

  expect(await stop(worker)).toEqual([0, null])
  expect(await stop(api)).toEqual([0, null])
}, 180_000)

function imageOf(name: string): Image {
  const image = images.get(name)
  if (!image) throw new Error(`The Dockerfile has no target ${name}`)
  return image
}

function start(name: string, own: NodeJS.ProcessEnv): ChildProcess {
  const { folder, command, env: imageEnv } = imageOf(name)
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...imageEnv, ...env, SHARDS: '16', ...own },
  })
  running.push(child)
  return child
}

async function runToEnd(
  name: string,
  command = imageOf(name).command,
  own: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { folder, env: imageEnv } = imageOf(name)
  const [program = '', ...args] = command
  const { stdout } = await run(program, args, { cwd: folder, env: { ...imageEnv, ...env, ...own } })
  return stdout
}

const operate = (name: string, ...args: string[]) =>
  runToEnd(name, ['node', `apps/${name}/dist/cli.js`, ...args])

/** By the program that is the health check of the image. Processes start slowly beside other tests. */
async function isHealthy(name: string, port: number): Promise<void> {
  const check = () => runToEnd(name, ['node', 'scripts/healthcheck.mjs', String(port)])
  await vi.waitFor(check, { timeout: 60_000, interval: 500 })
}

async function stop(child: ChildProcess): Promise<unknown[]> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  return exit
}
