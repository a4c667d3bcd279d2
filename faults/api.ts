import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { note } from './figures.ts'
import { expectWithin } from './recovery.ts'
import { isShort } from './size.ts'
import { trial } from './trial.ts'
import type { World } from './world.ts'

/** In the short form it loads for the first time on this machine, beside the load. */
const readyMsMax = isShort ? 5000 : 3000

export function apiFaults(find: () => World): void {
  // Fails when a message is stored although its idempotency key was used.
  it('7: the API is killed with answers on their way', async () => {
    const world = find()
    let readyMs = Number.NaN
    const found = await trial(world, '7 API killed', async (load) => {
      // Killed when Postgres has stored something, and its answer is on the way.
      const link = world.link('api', 'postgres')
      const sinceMs = Date.now()
      link.worsen({ latencyMs: 500, jitterMs: 0, resetShare: 0 })
      await until('a message is stored and not answered', { withinMs: 20_000, everyMs: 20 }, async () => {
        const answered = new Set(load.sent.flatMap(({ messageId }) => messageId ?? []))
        return (await world.records.listMessagesSince(sinceMs)).some(({ id }) => !answered.has(id))
      })
      world.devnet.signal('api', 'SIGKILL')
      link.heal()
      await delay(1000)
      const startedAt = performance.now()
      await world.devnet.start('api')
      await world.devnet.waitUntilReady()
      readyMs = performance.now() - startedAt
    })
    const { load, messages } = found
    const unanswered = load.sent.filter(({ attempts }) => attempts.some(({ status }) => status === 0))
    const stored = new Map(messages.map((message) => [message.body, message]))
    const storedBefore = unanswered.filter(({ text, attempts }) => {
      return (stored.get(text)?.createdAtMs ?? Number.NaN) < (attempts.at(-1)?.atMs ?? 0)
    })
    note('7 API killed', {
      unanswered: unanswered.length,
      'stored before the repetition': storedBefore.length,
    })
    expectWithin(found, { 'ready ms': readyMs }, readyMsMax)
    expect(storedBefore.length).toBeGreaterThan(0)
  })
}
