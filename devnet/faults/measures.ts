import { setTimeout as delay } from 'node:timers/promises'
import type { MessageFacts } from '../src/harness/records.ts'
import { readRssBytes } from '../src/harness/resident-memory.ts'
import type { World } from './world.ts'

const mebibyte = 2 ** 20
const sampleEveryMs = 250

/** How long 99 of 100 messages of these senders took, of those that were accepted in this time, until they were sent. */
export function p99Ms(messages: MessageFacts[], senders: string[], fromMs: number, toMs: number): number {
  const tookMs = messages
    .filter(({ type, sender }) => type === 'text' && senders.includes(sender))
    .filter(({ createdAtMs }) => createdAtMs >= fromMs && createdAtMs < toMs)
    .map(({ createdAtMs, sentAtMs }) => (sentAtMs ?? Number.POSITIVE_INFINITY) - createdAtMs)
    .sort((a, b) => a - b)
  return tookMs[Math.floor(tookMs.length * 0.99)] ?? Number.POSITIVE_INFINITY
}

/** By how many MiB that worker grew which grew most while the work was going on. */
export async function growthMib({ devnet, workers }: World, work: () => Promise<void>): Promise<number> {
  const rss = () => workers.map((name) => readRssBytes(devnet.pid(name) ?? 0))
  const before = rss()
  const most = [...before]
  let isDone = false
  async function sample(): Promise<void> {
    while (!isDone) {
      for (const [index, bytes] of rss().entries()) most[index] = Math.max(most[index] ?? 0, bytes)
      await delay(sampleEveryMs)
    }
  }
  const sampling = sample()
  await work().finally(() => {
    isDone = true
  })
  await sampling
  return Math.max(...most.map((bytes, index) => bytes - (before[index] ?? 0))) / mebibyte
}
