import { setTimeout as delay } from 'node:timers/promises'
import { askRedis } from '@wagate/local-servers/ask-redis'
import { until } from '@wagate/test-kit/until'
import type { World } from './world.ts'

type Faults = Record<string, (world: World) => Promise<void>>

/** Processes of ours end, and are started again. */
export const faultsOfProcesses: Faults = {
  'worker killed': async (world) => kill(world, anyWorker(world)),
  'all workers killed': async (world) => {
    await Promise.all(world.workers.map((worker) => kill(world, worker)))
  },
  'worker restarted': async (world) => {
    const worker = anyWorker(world)
    await world.devnet.stop(worker)
    await world.devnet.start(worker)
  },
  'API killed': (world) => kill(world, 'api'),
}

/** All processes of ours live on. */
export const passingFaults: Faults = {
  'worker stopped': async (world) => {
    const worker = anyWorker(world)
    world.devnet.signal(worker, 'SIGSTOP')
    await delay(anyMs(world, 10_000))
    world.devnet.signal(worker, 'SIGCONT')
  },
  'worker blocked': async (world) => {
    world.devnet.signal(anyWorker(world), 'SIGHUP')
    await delay(anyMs(world, 10_000))
  },
  'Redis killed': async ({ devnet, ...world }) => {
    devnet.signal('redis', 'SIGKILL')
    await delay(anyMs(world, 5000))
    await devnet.start('redis')
  },
  'Redis wiped': async ({ devnet }) => void (await askRedis(new URL(devnet.redisUrl), [['FLUSHALL']])),
  'Postgres killed': async ({ devnet, ...world }) => {
    devnet.signal('postgres', 'SIGKILL')
    await delay(anyMs(world, 3000))
    await devnet.start('postgres')
  },
  'Redis silent': (world) => freeze(world, world.links('redis')),
  'Postgres silent': (world) => freeze(world, world.links('postgres')),
  'worker without Redis': (world) => freeze(world, [world.link(anyWorker(world), 'redis')]),
  'worker without Postgres': (world) => freeze(world, [world.link(anyWorker(world), 'postgres')]),
  'slow and torn connections': async (world) => {
    const links = [...world.links('postgres'), ...world.links('redis')]
    for (const link of links) link.worsen({ latencyMs: 50, jitterMs: 50, resetShare: 0.005 })
    await delay(anyMs(world, 10_000))
    for (const link of links) link.heal()
  },
  'WhatsApp drops all': ({ fault }) => fault({ kind: 'drop' }),
  'connections half-open': ({ fault }) => fault({ kind: 'half_open' }),
  'acks lost and late': async (world) => {
    await world.fault({ kind: 'ack_drop', share: 0.05 })
    await world.fault({ kind: 'ack_delay', share: 0.05, ms: 5000 })
    await delay(anyMs(world, 10_000))
    await world.phones.clearFaults()
  },
}

async function kill({ devnet, random }: World, name: string): Promise<void> {
  devnet.signal(name, 'SIGKILL')
  await until(`${name} is gone`, { withinMs: 5000, everyMs: 20 }, () => devnet.pid(name) === undefined)
  await delay(anyMs({ random }, 5000))
  await devnet.start(name)
}

async function freeze(world: World, links: ReturnType<World['links']>): Promise<void> {
  for (const link of links) link.freeze()
  await delay(anyMs(world, 10_000))
  for (const link of links) link.heal()
}

function anyWorker({ workers, random }: World): string {
  return workers[Math.floor(random() * workers.length)] ?? ''
}

function anyMs({ random }: Pick<World, 'random'>, most: number): number {
  return random() * most
}
