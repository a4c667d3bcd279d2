import type { WaitingReason } from '@wagate/shared/waiting-reasons'
import type { Waits } from '../metrics/metrics.ts'
import type { OutboxWaits } from '../outbox/outbox-waits.ts'

/** A device with due messages, as the poll found it. */
type Working = { id: number; shard: number; waitingMs: number | null }

export type WaitingCounts = {
  /** Takes over what a poll has found, and counts what no outbox has read, of some devices at a time. */
  update(working: Working[]): Promise<void>
  read(): Waits
}

/** For one statement. */
const devicesPerUpdate = 50

/**
 * What waits in a worker. What an outbox has read is asked when somebody wants to know. Of the rest, as of devices that are not
 * connected, Postgres is asked for a number that is not exact and costs little, however long the queues are.
 */
export function makeWaitingCounts(
  /** Counts up to a thousand of a device. */
  countDue: (deviceIds: number[]) => Promise<{ id: number; due: number }[]>,
  /** Undefined: it is not connected. */
  waitsOf: (device: Working) => OutboxWaits | undefined,
  nowMs: () => number = () => performance.now(),
): WaitingCounts {
  let devices: Working[] = []
  let updatedAtMs = nowMs()
  /** By device, the ones counted longest ago first. */
  const counts = new Map<number, number>()

  return {
    async update(working) {
      devices = working.filter(({ waitingMs }) => waitingMs !== null)
      updatedAtMs = nowMs()
      const known = new Set(devices.map(({ id }) => id))
      for (const id of [...counts.keys()]) if (!known.has(id)) counts.delete(id)
      const unread = devices.filter((device) => !waitsOf(device)?.hasReadAll).map(({ id }) => id)
      const order = [...counts.keys()]
      const next = unread
        .sort((one, other) => order.indexOf(one) - order.indexOf(other))
        .slice(0, devicesPerUpdate)
      if (next.length === 0) return
      for (const { id, due } of await countDue(next)) {
        counts.delete(id)
        counts.set(id, due)
      }
    },
    read() {
      const messages = new Map<WaitingReason, number>()
      const add = (reason: WaitingReason, count: number) =>
        messages.set(reason, (messages.get(reason) ?? 0) + count)
      for (const device of devices) {
        const waits = waitsOf(device)
        const counted = counts.get(device.id) ?? 0
        if (!waits) add('sender_disconnected', Math.max(1, counted))
        else {
          for (const reason of waits.read) add(reason, 1)
          if (!waits.hasReadAll) add(waits.rest, Math.max(0, counted - waits.read.length))
        }
      }
      const oldest = Math.max(0, ...devices.map(({ waitingMs }) => waitingMs ?? 0))
      return { messages, oldestMs: devices.length === 0 ? 0 : oldest + nowMs() - updatedAtMs }
    },
  }
}
