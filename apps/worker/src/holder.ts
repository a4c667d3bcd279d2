import { setTimeout as delay } from 'node:timers/promises'
import {
  claimDevices,
  countLinkedDevices,
  listDevicesWithWork,
  releaseDevices,
} from '@wagate/db/queries/device-owner-view'
import { openConsumerConnection, startCommandConsumer } from '@wagate/queue/command-consumer'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { within } from '@wagate/runtime/within'
import type { CommandHandlers } from '@wagate/shared/commands'
import type { DeviceContext } from './context.ts'
import { type Device, makeDevice } from './device/device.ts'
import { startExpiry } from './expiry.ts'
import type { Lease, ShardHolder } from './ownership/lease.ts'

type Shard = { lease: Lease; devices: Map<number, Device>; consumer: Promise<Running>; linked: number }

/** At the last look at the database for `waitingDevices`. */
type DeviceCounts = { onlineDevices: number; waitingDevices: number }

/** Of shards without devices. Each group comes a moment after the last, and waits for the logins, but not for ever. */
const consumersAtOnce = 4
const consumersPauseMs = 100
const loginsWaitMsMax = 500
/** With Postgres away, the next owner says it. */
const leaveMsMax = 500

/** Holds the devices and the command queues of the owned shards. */
export function makeShardHolder(context: DeviceContext): ShardHolder & Running & { counts(): DeviceCounts } {
  const { config, db, logger } = context
  const shards = new Map<number, Shard>()
  // Without Redis the commands are found by polling.
  const onRedisError = makeOutageLog(logger, 'command queues').failed
  const connection = openConsumerConnection(config.REDIS_URL, onRedisError)
  const poll = makeSingleFlight(lookAtAll, (error) => logger.warn({ err: error }, 'The poll for work failed'))
  const consumeEmpty = makeSingleFlight(startEmpty, onRedisError)
  const timer = setInterval(poll, config.OUTBOX_POLL_MS)
  const expiry = startExpiry(context, () => [...shards.values()].map(({ lease }) => lease))
  let waitingDevices = 0
  /** Shards whose consumers have not begun to start. */
  const empty: Shard[] = []

  function deviceOf(shard: Shard, deviceId: number): Device {
    const known = shard.devices.get(deviceId)
    if (known) return known
    const made = makeDevice(context, shard.lease, deviceId)
    shard.devices.set(deviceId, made)
    return made
  }

  function handlersOf(shard: Shard): CommandHandlers {
    const look = async ({ deviceId }: { deviceId: number }) => deviceOf(shard, deviceId).reconcile()
    return {
      send: async ({ deviceId }) => deviceOf(shard, deviceId).wake(),
      'start-session': look,
      'end-session': look,
      'apply-settings': look,
      'check-number': async ({ deviceId, number }) => deviceOf(shard, deviceId).checkNumber(number),
    }
  }

  async function take(leases: Lease[]): Promise<void> {
    const taken = leases.map((lease): Shard => ({ lease, devices: new Map(), consumer: nobody, linked: 0 }))
    for (const shard of taken) shards.set(shard.lease.shard, shard)
    for (const { id, shard, hasWaiting } of await claimDevices(db, leases)) {
      const owned = shards.get(shard)
      if (!owned) continue
      const device = deviceOf(owned, id)
      if (hasWaiting) device.wake()
      device.reconcile()
    }
    await countLinked(leases.map(({ shard }) => shard))
    void consume(taken)
  }

  /** The sessions open meanwhile. What was accepted before a consumer began is found by the look that follows. */
  async function consume(taken: Shard[]): Promise<void> {
    await startConsumers(taken.filter(({ devices }) => devices.size > 0))
    empty.push(...taken.filter(({ devices }) => devices.size === 0))
    consumeEmpty()
  }

  /** Nobody waits for these consumers yet, and 240 of them cost as much CPU as two dozen logins. */
  async function startEmpty(): Promise<void> {
    while (empty.length > 0 && shards.size > 0) {
      await untilNobodyLogsIn()
      await startConsumers(empty.splice(0, consumersAtOnce))
    }
  }

  async function untilNobodyLogsIn(): Promise<void> {
    const atLatestMs = performance.now() + loginsWaitMsMax
    do await delay(consumersPauseMs)
    while (!context.logins.isIdle() && performance.now() < atLatestMs)
  }

  async function startConsumers(given: Shard[]): Promise<void> {
    // Some may have been dropped meanwhile.
    const owned = given.filter((shard) => shards.get(shard.lease.shard) === shard)
    for (const shard of owned) shard.consumer = startConsumer(shard)
    await Promise.all(owned.map(({ consumer }) => consumer))
    poll()
  }

  function startConsumer(shard: Shard): Promise<Running> {
    return startCommandConsumer(connection, {
      shard: shard.lease.shard,
      handlers: handlersOf(shard),
      onError: onRedisError,
      onDropped: poll,
    })
  }

  async function drop(numbers: number[], why: 'released' | 'lost'): Promise<void> {
    const dropped = numbers.flatMap((number) => shards.get(number) ?? [])
    for (const number of numbers) shards.delete(number)
    await Promise.all([
      why === 'released' && within(leaveMsMax, leave(dropped)),
      ...dropped.map(async ({ devices, consumer }) => {
        await (await consumer).close()
        await Promise.all([...devices.values()].map((device) => device.close(why)))
      }),
    ])
  }

  async function leave(left: Shard[]): Promise<void> {
    try {
      await releaseDevices(
        db,
        left.map(({ lease }) => lease),
      )
    } catch (error) {
      logger.warn({ err: error }, 'Devices are shown online until their next owner takes them')
    }
  }

  /** Finds what a lost command would have said, and what came due by time alone. */
  async function lookAtAll(): Promise<void> {
    const leases = [...shards.values()].map(({ lease }) => lease)
    if (leases.length === 0) return
    const numbers = leases.map(({ shard }) => shard)
    const working = await listDevicesWithWork(db, numbers)
    waitingDevices = working.filter(({ hasWaiting }) => hasWaiting).length
    for (const state of working) {
      const shard = shards.get(state.shard)
      if (!shard) continue
      const device = deviceOf(shard, state.id)
      if (!device.isReconciled(state)) device.reconcile()
      else if (state.hasWaiting) device.wake()
    }
    await countLinked(numbers)
  }

  async function countLinked(numbers: number[]): Promise<void> {
    const counts = await countLinkedDevices(db, numbers)
    for (const number of numbers) {
      const shard = shards.get(number)
      if (shard) shard.linked = counts.get(number) ?? 0
    }
  }

  return {
    take,
    drop,
    linkedDevices: (number) => shards.get(number)?.linked ?? 0,
    isPairing: (number) =>
      [...(shards.get(number)?.devices.values() ?? [])].some((device) => device.isPairing()),
    counts() {
      const devices = [...shards.values()].flatMap((shard) => [...shard.devices.values()])
      return { onlineDevices: devices.filter((device) => device.isOnline()).length, waitingDevices }
    },
    async close() {
      clearInterval(timer)
      await expiry.close()
      await drop([...shards.keys()], 'lost')
      await connection.close()
    },
  }
}

/** Until a shard's consumer has started. */
const nobody: Promise<Running> = Promise.resolve({ close: async () => undefined })
