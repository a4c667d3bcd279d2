import { setTimeout as delay } from 'node:timers/promises'
import { median } from '@wagate/test-kit/statistics'
import { until } from '@wagate/test-kit/until'
import { heldBytes } from './measures.ts'
import type { World } from './world.ts'

/** Enough for the median to be free of what had piled up behind the last fault. */
const samplesMax = 9
const sampleEveryMs = 2000
const reconnectMs = 60_000

/**
 * By how many bytes the API and all workers grow during the work. Garbage is collected before each sample, and every
 * sender is with its usual worker: a worker also holds the state of shards that it took over, and the commands of
 * connections that wait for Redis.
 */
export async function growthWhile(
  world: World,
  work: () => Promise<void>,
): Promise<{ apiBytes: number; workersBytes: number }> {
  const before = await sampleMemory(world)
  await work()
  const after = await sampleMemory(world)
  const [apiBytes = Number.NaN, ...workers] = after.map(
    (bytes, index) => bytes - (before[index] ?? Number.NaN),
  )
  return { apiBytes, workersBytes: workers.reduce((total, bytes) => total + bytes, 0) }
}

async function sampleMemory(world: World): Promise<number[]> {
  const names = ['api', ...world.workers]
  await world.untilBalanced()
  await renewConnections(world)
  const held: number[][] = []
  for (let count = 0; count < samplesMax; count++) {
    await delay(sampleEveryMs)
    held.push(await heldBytes(world, names))
  }
  return names.map((_, index) => median(held.map((bytes) => bytes[index] ?? Number.NaN)))
}

/** Baileys keeps the last 512 messages of a connection for five minutes, so only new connections can be compared. */
async function renewConnections(world: World): Promise<void> {
  const droppedAtMs = Date.now()
  await world.fault({ kind: 'drop' })
  await until('every sender has logged in again', { withinMs: reconnectMs, everyMs: 200 }, async () => {
    const logins = await world.loginsSince(droppedAtMs)
    const haveLoggedIn = world.senders.every((sender) => logins.has(sender))
    return haveLoggedIn && (await world.phones.countConnected()) >= world.senders.length
  })
}
