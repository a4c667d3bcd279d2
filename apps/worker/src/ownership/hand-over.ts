import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@wagate/db/client'
import { countOpeningDevices, releaseShards } from '@wagate/db/queries/workers/shard-leases'
import { listLiveWorkers, markWorkerDraining, type WorkerTimeouts } from '@wagate/db/queries/workers/workers'
import { within } from '@wagate/runtime/within'
import type { Attempt } from './attempt.ts'
import type { Registration } from './membership.ts'
import { cheapestFirst, firstWithin } from './move-order.ts'
import type { OwnedShards } from './owned-shards.ts'
import { openingMax } from './releases.ts'

export type HandOverOptions = {
  db: Database
  owned: OwnedShards
  timeouts: WorkerTimeouts
  publishShardsChanged: () => Promise<void>
  attempt: Attempt
}

const stopMsMax = 5000
/** For all waves together, and how often to check whether the senders of a wave are online again. */
const handOverMs = 8000
const wavePollMs = 50

/**
 * Hands over in waves: the new owners log in the senders of one wave while the senders of the next still send here.
 * The next wave waits for them, within its part of the time. Everything goes together when no other worker is live, or
 * when Postgres does not answer.
 */
export async function handOver({ workerId }: Registration, options: HandOverOptions): Promise<void> {
  const { db, owned, publishShardsChanged, attempt } = options
  let isTold = await attempt('drain', markWorkerDraining(db, workerId))
  const startedAtMs = performance.now()
  const devices = owned.linkedDevices()
  let left = owned.list()
  while (left.length > 0) {
    const receivers = isTold ? await countOthers(workerId, options) : 0
    const wave = receivers > 0 ? chooseWave(cheapestFirst(left), waveSize(devices, receivers)) : left
    await within(stopMsMax, owned.stopReleased(wave.map(({ shard }) => shard)))
    for (const lease of wave) owned.lose(lease)
    isTold = await attempt('release', releaseShards(db, workerId, wave))
    await publishShardsChanged()
    left = owned.list()
    if (left.length === 0) return
    const gone = 1 - owned.linkedDevices() / devices
    await untilOnline(wave, startedAtMs + gone * handOverMs, options)
  }
}

/** 0 when Postgres does not answer. */
async function countOthers(workerId: string, { db, timeouts, attempt }: HandOverOptions): Promise<number> {
  let others = 0
  const count = async () => {
    others = (await listLiveWorkers(db, timeouts)).filter(({ id }) => id !== workerId).length
  }
  await attempt('count-workers', count())
  return others
}

async function untilOnline(
  wave: { shard: number }[],
  atLatestMs: number,
  { db, attempt }: HandOverOptions,
): Promise<void> {
  const shards = wave.map(({ shard }) => shard)
  const areOpening = async () => (await countOpeningDevices(db, shards)) > 0
  do await delay(wavePollMs)
  while (performance.now() < atLatestMs && (await attempt('poll-wave', areOpening())))
}

/** Bounds how long a worker takes to stop, however many devices it has. */
const wavesMax = 12

/** Linked devices per wave when a stopping worker hands over. */
export function waveSize(devices: number, receivers: number): number {
  return Math.max(openingMax * receivers, Math.ceil(devices / wavesMax))
}

/** What a stopping worker hands over next. Shards without linked devices go with the last wave. */
export function chooseWave<Shard extends { linked: number }>(left: Shard[], devicesMax: number): Shard[] {
  const linked = left.filter((shard) => shard.linked > 0)
  const wave = firstWithin(linked, devicesMax)
  return wave.length === linked.length ? left : wave
}
