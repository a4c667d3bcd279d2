import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { askRedis } from '@wagate/local-servers/ask-redis'
import { quantile } from '@wagate/test-kit/statistics'
import { expect, it } from 'vitest'
import { expectAllAccepted, expectWithin, untilPromptMs } from './recovery.ts'
import { withRedisOnSmallDisk } from './redis-disk.ts'
import { isShort } from './size.ts'
import { type Trial, trial } from './trial.ts'
import type { World } from './world.ts'

const backMsMax = 10_000
const answerMsP99Max = 2500

export function redisFaults(find: () => World): void {
  async function ask(...command: string[]): Promise<void> {
    const [answer] = await askRedis(new URL(find().devnet.redisUrl), [command])
    expect(answer).toBe('+OK')
  }

  async function redisTrial(name: string, fault: Parameters<typeof trial>[2]): Promise<Trial> {
    const found = await trial(find(), name, fault)
    expectAllAccepted(found)
    expectWithin(
      found,
      { 'prompt after ms': untilPromptMs(found, find().senders, found.endedAtMs) },
      backMsMax,
    )
    return found
  }

  // Fails when the connections of the workers do not come back.
  it.skipIf(isShort)('8: Redis is killed and back after 5 s', async () => {
    const { devnet } = find()
    const found = await redisTrial('8 Redis killed', async () => {
      devnet.signal('redis', 'SIGKILL')
      await delay(5000)
      await devnet.start('redis')
    })
    expectWithin(found, { 'p99 of answers ms': p99During(found) }, answerMsP99Max)
  })

  // Fails when owners poll the database neither regularly nor after an outage.
  it('9: Redis loses everything, also what it was told of the last messages', async () => {
    const { devnet } = find()
    const found = await trial(find(), '9 Redis wiped', async (load) => {
      await ask('FLUSHALL')
      await delay(2000)
      devnet.signal('redis', 'SIGKILL')
      await delay(1000)
      await load.stop()
      rmSync(join(devnet.dataFolder, 'redis/appendonlydir'), { recursive: true })
      await devnet.start('redis')
    })
    expectAllAccepted(found)
    // The owner's poll finds what no command announced.
    const lastSentAtMs = Math.max(...found.texts.map(({ sentAtMs }) => sentAtMs ?? 0))
    expectWithin(found, { 'last sent after ms': lastSentAtMs - found.endedAtMs }, backMsMax)
  })

  // Fails when the limits of requests wait for Redis as long as it takes, and when wakes that were lost swallow later ones.
  it.skipIf(isShort)('10: Redis does not answer for 20 s', async () => {
    const { devnet } = find()
    await redisTrial('10 Redis stopped', async () => {
      devnet.signal('redis', 'SIGSTOP')
      await delay(20_000)
      devnet.signal('redis', 'SIGCONT')
    })
  })

  // Fails, as the next one does, when a command that Redis refuses fails its request.
  it('11: Redis has no memory left', async () => {
    await redisTrial('11 memory full', async () => {
      await ask('CONFIG', 'SET', 'maxmemory', '1')
      await delay(isShort ? 3000 : 15_000)
      await ask('CONFIG', 'SET', 'maxmemory', '0')
    })
  })

  // Fails when a wake whose end Redis refused to write swallows later ones.
  it.skipIf(isShort)('25: the disk of Redis is full', async ({ skip }) => {
    const { devnet, recover } = find()
    const impossible = await withRedisOnSmallDisk(devnet, async (disk) => {
      await recover()
      await redisTrial('11 disk full', async () => {
        disk.fill()
        await delay(15_000)
        disk.free()
      })
    })
    if (impossible) skip(impossible)
  })
}

function p99During({ load, faultAtMs, endedAtMs }: Trial): number {
  const took = load.sent
    .flatMap(({ attempts }) => attempts)
    .filter(({ atMs }) => atMs >= faultAtMs && atMs < endedAtMs)
    .map(({ tookMs }) => tookMs)
  return quantile(took, 0.99)
}
