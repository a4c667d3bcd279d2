import { openingMs } from '@wagate/db/queries/workers/shard-leases'
import { silentHeartbeats } from '@wagate/worker/ownership/membership'
import { afterClaim, needsDeviceCounts, planTick } from '@wagate/worker/ownership/plan'
import type { DeviceCounts, View } from '@wagate/worker/ownership/view'
import {
  disconnectShard,
  disownShard,
  linkedDevices,
  markDead,
  ownShard,
  renewedAtMs,
  type Worker,
  type World,
  wakeAll,
} from './world.ts'

/** One tick of a worker, planned by the product. Takes no time, so no other worker claims first. */
export function poll(world: World, worker: Worker): void {
  world.counters.polls += 1
  for (const other of world.workers)
    if (other.state === 'gone' && world.nowMs - other.renewedAtMs > other.diesAfterMs) markDead(world, other)
  const view = viewOf(world, worker)
  if (needsDeviceCounts(view, worker.memory)) view.deviceCounts = countDevices(world)
  const plan = planTick(view, worker.memory, world.random)
  worker.memory = plan.memory
  for (const number of plan.claim) ownShard(world, worker, number)
  if (plan.claim.length > 0) worker.memory = afterClaim(worker.memory, view)
  worker.pollNotBeforeMs = world.nowMs + plan.restMs
  worker.pollAtMs = world.nowMs + Math.max(plan.restMs, plan.nextPollMs)
  release(world, worker, plan.release)
}

function release(world: World, worker: Worker, numbers: number[]): void {
  if (numbers.length === 0) return
  for (const number of numbers) {
    disconnectShard(world, number)
    disownShard(world, worker, number)
  }
  wakeAll(world)
}

function viewOf(world: World, worker: Worker): View {
  const { setup, shards, nowMs } = world
  const linkedOf = (shard: number) => ({ shard, linked: shards[shard]?.linked ?? 0 })
  return {
    nowMs,
    selfId: worker.id,
    capacity: setup.capacity,
    shards: setup.shards,
    tickMs: setup.tickMs,
    workers: listWorkers(world),
    unowned: [...world.unowned].map(linkedOf),
    owned: [...worker.owned].map((shard) => ({ ...linkedOf(shard), isMovable: true })),
  }
}

/** Like `listLiveWorkers`: a worker that is gone is among them until it is marked dead. */
function listWorkers(world: World): View['workers'] {
  const { workers, nowMs, setup } = world
  const silentMsMax = silentHeartbeats * setup.heartbeatMs
  const listed: View['workers'] = []
  for (const worker of workers) {
    if (worker.state === 'dead') continue
    const silentMs = nowMs - renewedAtMs(world, worker)
    const deathAfterMs = silentMs <= silentMsMax ? silentMsMax : setup.leaseTtlMs
    listed.push({
      id: worker.id,
      capacity: setup.capacity,
      owned: worker.owned.size,
      deathInMs: silentMs <= deathAfterMs ? deathAfterMs - silentMs : null,
      isSuspect: silentMs > silentMsMax,
    })
  }
  return listed
}

/** Like `countLinkedDevicesByOwner`. */
function countDevices(world: World): Map<string, DeviceCounts> {
  const owners = world.workers.filter(({ owned }) => owned.size > 0)
  return new Map(
    owners.map(({ id, owned }) => [
      id,
      { linked: linkedDevices(world, owned), opening: opening(world, owned) },
    ]),
  )
}

function opening({ shards, nowMs }: World, numbers: Iterable<number>): number {
  let devices = 0
  for (const number of numbers) {
    const shard = shards[number]
    if (shard && nowMs - shard.offlineSinceMs < openingMs) devices += shard.linked - shard.online
  }
  return devices
}
