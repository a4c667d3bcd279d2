import { setTimeout as delay } from 'node:timers/promises'
import type { System } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'

export type Way = 'SIGKILL, other worker' | 'SIGKILL, same name again' | 'SIGTERM, other worker'

/** A fault of one worker. The times of its senders' next messages are read from the records afterwards. */
export type Fault = {
  way: Way
  worker: string
  senders: string[]
  at: number
  endedAt: number
  /** When the last of these senders had logged in again. */
  onlineAt: number
  until: number
}

const workers = ['worker-1', 'worker-2'] as const
const balanceMs = 180_000
const recoveryMs = 45_000

/** Stops or kills one of two workers, and returns when both have equal shares again. */
export async function causeFault({ devnet, records, phones }: System, way: Way): Promise<Fault> {
  const held = async (worker: string) => ({ worker, senders: await records.listSendersOf(worker) })
  await balanced(records)
  const [first, second] = await Promise.all([held(workers[0]), held(workers[1])])
  // Equal shares of the shards may be unequal shares of the senders.
  const { worker, senders } = first.senders.length >= second.senders.length ? first : second
  const at = Date.now()
  const ending = way === 'SIGTERM, other worker' ? devnet.stop(worker) : kill(devnet, worker)
  await ending
  const endedAt = Date.now()
  if (way === 'SIGKILL, same name again') await devnet.start(worker)
  const onlineAt = await until(
    'all have logged in again',
    { withinMs: recoveryMs, everyMs: 200 },
    async () => {
      const back = new Map(
        (await phones.logins())
          .filter(
            ({ t, result, sender }) => result === 'ok' && Date.parse(t) > at && senders.includes(sender),
          )
          .map(({ t, sender }) => [sender, Date.parse(t)]),
      )
      return back.size === senders.length && Math.max(...back.values())
    },
  ).catch(() => Date.now())
  // Senders that have not recovered by then count as silent.
  await until('all senders send again', { withinMs: recoveryMs, everyMs: 100 }, async () => {
    return (await records.countSendersSince(senders, endedAt)) === senders.length
  }).catch(() => undefined)
  const fault = { way, worker, senders, at, endedAt, onlineAt, until: Date.now() }
  if (way !== 'SIGKILL, same name again') await devnet.start(worker)
  return fault
}

async function kill(devnet: System['devnet'], worker: string): Promise<void> {
  devnet.signal(worker, 'SIGKILL')
  await until(`${worker} is gone`, { withinMs: 5000, everyMs: 1 }, () => devnet.pid(worker) === undefined)
}

/** Both own half of the shards, all moved senders are online, and no messages are waiting. */
async function balanced(records: System['records']): Promise<void> {
  const linked = (await records.listLinkedSenders()).length
  await until('both workers own their share', { withinMs: balanceMs, everyMs: 100 }, async () => {
    const owned = Object.values(await records.countShards())
    if (owned.length !== workers.length) return false
    return (
      Math.max(...owned) - Math.min(...owned) <= 1 &&
      (await records.countOnline()) === linked &&
      (await records.countWaiting()) < linked
    )
  })
  // Messages that waited for the last moves do not count for the next fault.
  await delay(2000)
}
