import {
  countLinkedDevices,
  type DeviceState,
  type DeviceWork,
  listDevicesWithWork,
} from '@wagate/db/queries/devices/device-owner-view'
import { countDueMessages } from '@wagate/db/queries/devices/due-counts'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import type { Device } from '../device/device.ts'
import type { DeviceContext } from '../device/device-context.ts'
import { type BlockFacts, blockedMs } from '../device/login-block.ts'
import type { Waits } from '../metrics/metrics.ts'
import { deviceOf, type HostedShard } from './hosted-shard.ts'
import { makeWaitingCounts } from './waiting-counts.ts'

/** Of the messages of a device that its outbox has not read. */
const countMax = 1000

export type WorkPoll = Running & {
  /** Polls now, or once more after the current poll. */
  poll(): void
  countLinked(shards: number[]): Promise<void>
  /** Devices with waiting messages, at the last poll. */
  waitingDevices(): number
  waits(): Waits
  /** The number of devices that WhatsApp does not let log in, at the last poll, by the reason of their status. */
  blockedDevices(): ReadonlyMap<string, number>
}

/** Finds in the database what a lost command would have said, and messages that have become due. */
export function startWorkPoll(context: DeviceContext, hosted: ReadonlyMap<number, HostedShard>): WorkPoll {
  const { config, db, logger } = context
  const poll = makeSingleFlight(pollOnce, (error) => logger.warn({ err: error }, 'Polling for work failed'))
  const timer = setInterval(poll, config.outbox.pollMs)
  const waitsOf = ({ id, shard }: { id: number; shard: number }) =>
    hosted.get(shard)?.devices.get(id)?.waits()
  const counts = makeWaitingCounts((ids) => countDueMessages(db, ids, countMax), waitsOf)
  let waitingDevices = 0
  let blockedDevices: ReadonlyMap<string, number> = new Map()

  async function pollOnce(): Promise<void> {
    const shards = [...hosted.keys()]
    if (shards.length === 0) {
      blockedDevices = new Map()
      return counts.update([])
    }
    const working = await listDevicesWithWork(db, shards)
    waitingDevices = working.filter(({ hasWaiting }) => hasWaiting).length
    blockedDevices = countBlocked(working, context.whatsApp.clientVersion.current())
    for (const state of working) {
      const shard = hosted.get(state.shard)
      if (shard) notify(deviceOf(context, shard, state.id), state)
    }
    setLinked(shards, countByShard(working))
    await counts.update(working)
  }

  function setLinked(shards: number[], counts: ReadonlyMap<number, number>): void {
    for (const number of shards) {
      const shard = hosted.get(number)
      if (shard) shard.linked = counts.get(number) ?? 0
    }
  }

  return {
    poll,
    countLinked: async (shards) => setLinked(shards, await countLinkedDevices(db, shards)),
    waitingDevices: () => waitingDevices,
    waits: counts.read,
    blockedDevices: () => blockedDevices,
    async close() {
      clearInterval(timer)
    },
  }
}

function countByShard(devices: Pick<DeviceWork, 'shard' | 'counts'>[]): Map<number, number> {
  const linked = new Map<number, number>()
  for (const { shard, counts } of devices) if (counts) linked.set(shard, (linked.get(shard) ?? 0) + 1)
  return linked
}

export function countBlocked(
  states: (BlockFacts & Pick<DeviceState, 'hasStoredCreds' | 'statusReason'>)[],
  clientVersion: string,
): Map<string, number> {
  const counts = new Map<string, number>()
  for (const state of states) {
    if (!state.hasStoredCreds || blockedMs(state, clientVersion) === 0) continue
    const reason = state.statusReason ?? 'unknown'
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return counts
}

/** A device that waits for its login needs both: the messages move it forward in the queue. */
export function notify(
  device: Pick<Device, 'isReconciled' | 'reconcile' | 'wake' | 'markRead'>,
  state: Omit<DeviceWork, 'counts' | 'waitingMs'>,
): void {
  if (state.hasWaiting) device.wake()
  if (state.hasReadRequests) device.markRead()
  if (!device.isReconciled(state)) device.reconcile()
}
