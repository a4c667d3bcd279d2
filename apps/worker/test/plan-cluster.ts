import { afterClaim, emptyMemory, type Memory, needsDeviceCounts, planTick } from '../src/ownership/plan.ts'
import type { DeviceCounts, View } from '../src/ownership/view.ts'

export type PlanWorker = {
  id: string
  capacity: number
  memory: Memory
  /** A stuck worker never polls, but counts as live. */
  isStuck: boolean
}

export type Move = { atMs: number; kind: 'claim' | 'release'; shard: number; worker: string }

const tickMs = 500

/** Workers that carry out the plans of `planTick`, one after the other or all with one view. Logins take no time. */
export function makePlanCluster(options: { linked: number[]; capacities: number[]; random: () => number }) {
  const { linked, random } = options
  const owners: (PlanWorker | undefined)[] = linked.map(() => undefined)
  const workers: PlanWorker[] = []
  const moves: Move[] = []
  let nowMs = 0

  const shardsOf = (owner: PlanWorker | undefined) =>
    [...owners.entries()]
      .filter(([, by]) => by === owner)
      .map(([shard]) => ({ shard, linked: linked[shard] ?? 0 }))

  const countDevices = (): Map<string, DeviceCounts> =>
    new Map(
      workers.map((worker) => [
        worker.id,
        { linked: shardsOf(worker).reduce((total, shard) => total + shard.linked, 0), opening: 0 },
      ]),
    )

  function viewOf(worker: PlanWorker): View {
    return {
      nowMs,
      selfId: worker.id,
      capacity: worker.capacity,
      shards: linked.length,
      tickMs,
      workers: workers.map(({ id, capacity }) => ({
        id,
        capacity,
        owned: shardsOf(workers.find((each) => each.id === id)).length,
        deathInMs: 5000,
        isSuspect: false,
      })),
      unowned: shardsOf(undefined),
      owned: shardsOf(worker).map((shard) => ({ ...shard, isMovable: true })),
    }
  }

  function planFor(worker: PlanWorker) {
    const view = viewOf(worker)
    const deviceCounts = needsDeviceCounts(view, worker.memory) ? { deviceCounts: countDevices() } : {}
    return { view, plan: planTick({ ...view, ...deviceCounts }, worker.memory, random) }
  }

  function carryOut(worker: PlanWorker, { plan, view }: ReturnType<typeof planFor>): void {
    worker.memory = plan.memory
    const claimed = plan.claim.filter((shard) => !owners[shard])
    if (claimed.length > 0) worker.memory = afterClaim(worker.memory, view)
    for (const shard of claimed) owners[shard] = worker
    for (const shard of plan.release) if (owners[shard] === worker) owners[shard] = undefined
    const note = (kind: Move['kind']) => (shard: number) =>
      moves.push({ atMs: nowMs, kind, shard, worker: worker.id })
    claimed.forEach(note('claim'))
    plan.release.forEach(note('release'))
  }

  const join = (capacity: number, isStuck = false) =>
    workers.push({ id: String(nowMs + workers.length), capacity, memory: emptyMemory, isStuck })
  for (const capacity of options.capacities) join(capacity)

  return {
    moves,
    workers,
    owners,
    join,
    shardsOf,
    planFor,
    leave(index: number): void {
      const [left] = workers.splice(index, 1)
      for (const [shard, owner] of owners.entries()) if (owner === left) owners[shard] = undefined
    },
    /** `together`: all plan before any of them acts. */
    tick({ together = false } = {}): void {
      const polling = workers.filter(({ isStuck }) => !isStuck)
      if (together) {
        const plans = polling.map((worker) => ({ worker, planned: planFor(worker) }))
        for (const { worker, planned } of plans) carryOut(worker, planned)
      } else {
        for (const worker of polling) carryOut(worker, planFor(worker))
      }
      nowMs += tickMs
    },
  }
}
