import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@wagate/local-servers/free-port'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import type { Phones } from '@wagate/test-kit/load/phones'
import { bundleApps } from '@wagate/test-kit/servers/bundle-apps'
import { openSystem, type System } from '@wagate/test-kit/system'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { until } from '@wagate/test-kit/until'
import { checkAnswers } from './check-answers.ts'
import { type EventSubscriber, openEventSubscriber } from './event-subscriber.ts'
import { type OwnerWatch, openOwnerWatch } from './owner-watch.ts'
import { apiSettings, commonSettings, workerSettings } from './settings.ts'
import { isShort, type Size } from './size.ts'

type ServerKind = 'postgres' | 'redis' | 'whatsapp'

/** A running system whose every connection between two machines can fail. */
export type World = System & {
  random(): number
  senders: string[]
  workers: string[]
  /** Numbers without WhatsApp that this sender writes to, beside those that have it. */
  absentRecipientsOf(sender: string): string[]
  isAbsent(number: string): boolean
  /** Answers since the last call that are not as the API's document says. */
  takeUndocumentedAnswers(): string[]
  /** Between one of our processes and a server. */
  link(name: string, server: ServerKind): TcpProxy
  links(server: ServerKind): TcpProxy[]
  fault(request: Record<string, unknown>): Promise<void>
  /** When each sender tried to log in, successful or not. */
  loginsSince(ms: number): Promise<Map<string, number[]>>
  /** Further settings of our processes, each from its next start on. */
  settings: Map<string, NodeJS.ProcessEnv>
  /** What a worker says of itself. */
  health(worker: string): Promise<WorkerHealth>
  ownerWatch: OwnerWatch
  subscriber: EventSubscriber
  /** Returns when all of our processes run and are ready. */
  startWhatDied(): Promise<void>
  /** The state before every trial: everything runs, nothing fails and nothing waits. */
  recover(): Promise<void>
  /** Every worker has its share, and every sender is online. */
  untilBalanced(): Promise<unknown>
  close(): Promise<void>
}

type WorkerHealth = { worker_id: string; lease_valid: boolean; owned_shards: number }

const restMs = 180_000
/** Senders that also write to a number without WhatsApp. */
const absentMax = 3
const lasting = 'not_on_whatsapp'

export async function openWorld(size: Size, random: () => number): Promise<World> {
  const links = new Map<string, TcpProxy>()
  const keyOf = (name: string, server: ServerKind) => `${name} ${server}`
  const dataFolder = mkdtempSync(join(tmpdir(), 'wagate-faults-'))
  const workers = Array.from({ length: size.workers }, (_, index) => `worker-${index + 1}`)
  const settings = new Map<string, NodeJS.ProcessEnv>()
  const healthPorts = new Map<string, string>()
  for (const worker of workers) healthPorts.set(worker, String(await freePort()))
  const system = await openSystem({
    workers: size.workers,
    // They start many times. From source, each start takes 2 s more of CPU time.
    ...(isShort && { compiledIn: await bundleIn(dataFolder) }),
    // Of its own, so that Postgres keeps what it has committed when it is killed.
    dataFolder,
    environment: (name) => ({
      ...(name !== 'simulator' && commonSettings(dataFolder, name)),
      ...(name === 'api' && apiSettings),
      ...(healthPorts.has(name) && { ...workerSettings, METRICS_PORT: healthPorts.get(name) }),
      ...settings.get(name),
    }),
    async proxyFor(name, url) {
      const link = await startTcpProxy(url, { random })
      links.set(keyOf(name, kindOf(url)), link)
      return link.url
    },
  })
  const { devnet, records } = system
  const phones = { ...system.phones, clearFaults: endFaults }
  const { gateway, takeUndocumentedAnswers } = checkAnswers(system.gateway)
  const ownerWatch = await openOwnerWatch(devnet.databaseUrl)
  const senders = senderNumbers(size.senders)
  // WhatsApp retires the secrets of some links, chosen at random, in each of its ways.
  for (const code of ['before_scan', 'after_scan', 'both'])
    await phones.fault({ kind: 'registration_refresh', code, share: 0.25 })
  await linkSenders(system, senders)
  const subscriber = await openEventSubscriber(system)
  const absent = new Map(
    senders.slice(0, absentMax).map((sender) => [sender, `${Number(sender) + 6_000_000}0`]),
  )
  for (const number of absent.values()) await phones.fault({ kind: lasting, number })

  /** Ends the faults of a trial. Numbers without WhatsApp stay without it: workers remember them. */
  async function endFaults(): Promise<void> {
    const { faults, clearFault } = system.phones
    await Promise.all((await faults()).map(({ id, kind }) => kind !== lasting && clearFault(id)))
  }

  return {
    ...system,
    phones,
    gateway,
    takeUndocumentedAnswers,
    random,
    senders,
    workers,
    absentRecipientsOf: (sender) => [absent.get(sender) ?? []].flat(),
    isAbsent: (number) => [...absent.values()].includes(number),
    link(name, server) {
      const link = links.get(keyOf(name, server))
      if (!link) throw new Error(`${name} has no connection to ${server}`)
      return link
    },
    links: (server) => [...links].flatMap(([key, link]) => (key.endsWith(` ${server}`) ? link : [])),
    fault: phones.fault,
    loginsSince: (ms) => loginsSince(phones, ms),
    settings,
    async health(worker) {
      const response = await fetch(`http://127.0.0.1:${healthPorts.get(worker)}/health/ready`)
      return (await response.json()) as WorkerHealth
    },
    ownerWatch,
    subscriber,
    ...makeRecovery({ devnet, records, phones, workers, senders, links }),
    async close() {
      subscriber.close()
      await ownerWatch.close()
      await system.close()
      await Promise.all([...links.values()].map((link) => link.close()))
      rmSync(dataFolder, { recursive: true, force: true })
    },
  }
}

type Recoverable = Pick<System, 'devnet' | 'records' | 'phones'> & {
  workers: string[]
  senders: string[]
  links: Map<string, TcpProxy>
}

function makeRecovery({ devnet, records, phones, workers, senders, links }: Recoverable) {
  async function startWhatDied(): Promise<void> {
    for (const name of ['api', ...workers]) if (devnet.pid(name) === undefined) await devnet.start(name)
    await devnet.waitUntilReady()
  }

  async function isBalanced(): Promise<boolean> {
    const owned = Object.values(await records.countShards())
    return (
      owned.length === workers.length &&
      Math.max(...owned) - Math.min(...owned) <= 1 &&
      (await records.countOnline()) >= senders.length
    )
  }

  return {
    startWhatDied,
    async recover(): Promise<void> {
      for (const link of links.values()) link.heal()
      await phones.clearFaults()
      await startWhatDied()
      await until(
        'nothing waits, shards are balanced and senders online',
        { withinMs: restMs, everyMs: 200 },
        async () => {
          return (await isBalanced()) && (await records.countWaiting()) === 0
        },
      )
    },
    untilBalanced: () =>
      until('shards are balanced and senders online', { withinMs: restMs, everyMs: 200 }, isBalanced),
  }
}

async function loginsSince(phones: Phones, ms: number): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>()
  for (const { sender, t } of await phones.logins()) {
    const atMs = Date.parse(t)
    if (atMs >= ms) times.set(sender, [...(times.get(sender) ?? []), atMs])
  }
  return times
}

async function bundleIn(dataFolder: string): Promise<string> {
  const folder = join(dataFolder, 'programs')
  await bundleApps(folder)
  return folder
}

function kindOf(url: string): ServerKind {
  if (url.startsWith('postgres')) return 'postgres'
  return url.startsWith('redis') ? 'redis' : 'whatsapp'
}
