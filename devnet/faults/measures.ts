import { setTimeout as delay } from 'node:timers/promises'
import type { MessageFacts } from '../src/harness/records.ts'
import { readRssBytes } from '../src/harness/resident-memory.ts'
import type { World } from './world.ts'

const mebibyte = 2 ** 20
const sampleEveryMs = 250
/** A collection itself takes a tenth of it. */
const collectMs = 2000

/** How long 99 of 100 messages of these senders took, of those that were accepted in this time, until they were sent. */
export function p99Ms(messages: MessageFacts[], senders: string[], fromMs: number, toMs: number): number {
  const tookMs = messages
    .filter(({ type, sender }) => type === 'text' && senders.includes(sender))
    .filter(({ createdAtMs }) => createdAtMs >= fromMs && createdAtMs < toMs)
    .map(({ createdAtMs, sentAtMs }) => (sentAtMs ?? Number.POSITIVE_INFINITY) - createdAtMs)
    .sort((a, b) => a - b)
  return tookMs[Math.floor(tookMs.length * 0.99)] ?? Number.POSITIVE_INFINITY
}

/** What a p99 may rise to. Half a second says more about the machine than about us. */
export function undisturbedMs(baselineMs: number): number {
  return Math.max(2 * baselineMs, 500)
}

/** By how many MiB a worker grew while the work was going on: the one that grew most. */
type Growth = {
  /** What it held in the end, without garbage. */
  heldMib: number
  /** The highest of all samples. */
  peakMib: number
}

export async function growthDuring({ devnet, workers }: World, work: () => Promise<void>): Promise<Growth> {
  const sample = () => workers.map((name) => readRssBytes(devnet.pid(name) ?? 0))
  async function collected(): Promise<number[]> {
    for (const name of workers) devnet.signal(name, 'SIGUSR2')
    await delay(collectMs)
    return sample()
  }
  const before = await collected()
  const growth = (rss: number[]) => Math.max(...rss.map((bytes, at) => bytes - (before[at] ?? 0))) / mebibyte
  let peakMib = 0
  const timer = setInterval(() => {
    peakMib = Math.max(peakMib, growth(sample()))
  }, sampleEveryMs)
  await work().finally(() => clearInterval(timer))
  return { heldMib: growth(await collected()), peakMib }
}
