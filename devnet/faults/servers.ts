import { setTimeout as delay } from 'node:timers/promises'
import { it } from 'vitest'
import { askRedis } from '../src/servers/ask-redis.ts'
import { isShort } from './size.ts'
import { trial } from './trial.ts'
import type { World } from './world.ts'

export function serverFaults(find: () => World): void {
  it.skipIf(isShort)('8: Redis is killed and back after 5 s', async () => {
    const world = find()
    await trial(world, '8 Redis killed', async () => {
      world.devnet.signal('redis', 'SIGKILL')
      await delay(5000)
      await world.devnet.start('redis')
    })
  })

  it('9: Redis loses everything', async () => {
    const world = find()
    await trial(world, '9 Redis wiped', async () => {
      await askRedis(new URL(world.devnet.redisUrl), [['FLUSHALL']])
    })
  })

  it.skipIf(isShort)('10: Redis does not answer for 20 s', async () => {
    const world = find()
    await trial(world, '10 Redis stopped', async () => {
      world.devnet.signal('redis', 'SIGSTOP')
      await delay(20_000)
      world.devnet.signal('redis', 'SIGCONT')
    })
  })

  it('12: Postgres is killed and started again', async () => {
    const world = find()
    await trial(world, '12 Postgres killed', async () => {
      world.devnet.signal('postgres', 'SIGKILL')
      await delay(2000)
      await world.devnet.start('postgres')
    })
  })

  it.skipIf(isShort)('13: Postgres does not answer for 15 s', async () => {
    const world = find()
    await trial(world, '13 Postgres frozen', async () => {
      for (const link of world.links('postgres')) link.freeze()
      await delay(15_000)
      for (const link of world.links('postgres')) link.heal()
    })
  })

  it.skipIf(isShort)('15: nothing passes between a worker and Redis for 15 s', async () => {
    const world = find()
    await trial(world, '15 worker without Redis', async () => {
      const link = world.link('worker-1', 'redis')
      link.freeze()
      await delay(15_000)
      link.heal()
    })
  })

  it.skipIf(isShort)('16: nothing passes between a worker and Postgres for 15 s', async () => {
    const world = find()
    await trial(world, '16 worker without Postgres', async () => {
      const link = world.link('worker-1', 'postgres')
      link.freeze()
      await delay(15_000)
      link.heal()
    })
  })

  it.skipIf(isShort)('17: slow and torn connections to Postgres and Redis for 60 s', async () => {
    const world = find()
    await trial(world, '17 latency and resets', async () => {
      const links = [...world.links('postgres'), ...world.links('redis')]
      for (const link of links) link.worsen({ latencyMs: 200, jitterMs: 100, resetShare: 0.01 })
      await delay(60_000)
      for (const link of links) link.heal()
    })
  })
}
