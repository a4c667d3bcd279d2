import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { keptIn, withSystem } from '@wagate/test-kit/system'
import { makeProfiler } from './profiler.ts'

const shards = Number(process.argv[2] ?? 64)
const profiler = makeProfiler(`/tmp/idle-prof-${shards}`)
await withSystem(
  {
    workers: 1,
    shards,
    ...keptIn(`/tmp/idle-data-${shards}`),
    environment: (n: string) => (n === 'worker-1' ? { NODE_OPTIONS: '--import /tmp/gcwatch.mjs' } : {}),
  } as never,
  async (system) => {
    await linkSenders(system, senderNumbers(24))
    const pid = system.devnet.pid('worker-1') ?? 0
    const cpu = () => {
      const t = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
      return Number(t[0]) / 1e6
    }
    const all = () => {
      const t = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')
      return (Number(t[13]) + Number(t[14])) * 10
    }
    await delay(85_000)
    if (process.argv[3]) {
      await profiler.start(pid)
      await delay(60_000)
      await profiler.stop(pid, 'idle')
      console.log((await profiler.summarize()).join('\n'))
    } else
      for (let i = 0; i < 4; i++) {
        const [a, b] = [cpu(), all()]
        await delay(30_000)
        console.log(shards, 'main ms/s', ((cpu() - a) / 30).toFixed(2), 'all', ((all() - b) / 30).toFixed(2))
      }
  },
)
