import { existsSync, readFileSync, rmSync } from 'node:fs'
import type { MessageFacts } from '@wagate/test-kit/load/records'
import { readRssBytes } from '@wagate/test-kit/resident-memory'
import { quantile } from '@wagate/test-kit/statistics'
import { until } from '@wagate/test-kit/until'
import { memoryFileOf } from './settings.ts'
import type { World } from './world.ts'

export const mebibyte = 2 ** 20
const sampleEveryMs = 250

/** How long 99 of 100 messages of these senders took, of those that were accepted in this time, until they were sent. */
export function p99Ms(messages: MessageFacts[], senders: string[], fromMs: number, toMs: number): number {
  const tookMs = messages
    .filter(({ sender }) => senders.includes(sender))
    .filter(({ createdAtMs }) => createdAtMs >= fromMs && createdAtMs < toMs)
    .map(({ createdAtMs, sentAtMs }) => (sentAtMs ?? Number.POSITIVE_INFINITY) - createdAtMs)
  return tookMs.length > 0 ? quantile(tookMs, 0.99) : Number.POSITIVE_INFINITY
}

/** Undisturbed, and long enough for a p99 to say something. */
export const baselineForMs = 15_000

/** The same shortly before the fault. What had not gone by then took at least so long. */
export function p99BeforeMs(messages: MessageFacts[], senders: string[], faultAtMs: number): number {
  const seen = messages.map((message) => ({
    ...message,
    sentAtMs: Math.min(message.sentAtMs ?? Number.POSITIVE_INFINITY, faultAtMs),
  }))
  return p99Ms(seen, senders, faultAtMs - baselineForMs, faultAtMs)
}

/** What a p99 may rise to. Half a second says more about the machine than about us. */
export function undisturbedMs(baselineMs: number): number {
  return Math.max(2 * baselineMs, 500)
}

/** By how many MiB a worker grew while the work was going on: the one that grew most. */
type Growth = {
  /** What it held in the end, without garbage and without what Node keeps for the next. */
  heldMib: number
  /** Resident, at most. */
  rssMib: number
}

export async function growthDuring(world: World, work: () => Promise<void>): Promise<Growth> {
  const { devnet, workers } = world
  const residentNow = () => workers.map((name) => readRssBytes(devnet.pid(name) ?? 0))
  const heldBefore = await heldBytes(world, workers)
  const residentBefore = residentNow()
  let rssMib = 0
  const timer = setInterval(() => {
    rssMib = Math.max(rssMib, growthMib(residentBefore, residentNow()))
  }, sampleEveryMs)
  await work().finally(() => clearInterval(timer))
  return { heldMib: growthMib(heldBefore, await heldBytes(world, workers)), rssMib }
}

function growthMib(before: number[], after: number[]): number {
  return Math.max(...after.map((bytes, index) => bytes - (before[index] ?? 0))) / mebibyte
}

/** What the API or workers hold without garbage, in the order of their names. */
export function heldBytes({ devnet }: World, names: string[]): Promise<number[]> {
  return Promise.all(
    names.map((name) => {
      const file = memoryFileOf(devnet.dataFolder, name)
      rmSync(file, { force: true })
      devnet.signal(name, 'SIGUSR2')
      return until(`${name} says what it holds`, { withinMs: 20_000, everyMs: 50 }, () => {
        return existsSync(file) && (Number(readFileSync(file, 'utf8')) || false)
      })
    }),
  )
}
