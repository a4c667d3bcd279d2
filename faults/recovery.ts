import type { Attempt } from '@wagate/test-kit/load/load'
import { expect } from 'vitest'
import { note } from './figures.ts'
import { isOverdue, type Trial } from './trial.ts'
import type { World } from './world.ts'

/** A message that waited longer was found by a poll of its owner, or waited behind a backlog. */
const promptMsMax = 2000

/** From `sinceMs` until messages of these senders are sent promptly again; 0 when they always were. */
export function untilPromptMs({ texts }: Trial, senders: string[], sinceMs: number): number {
  const late = texts.filter(
    ({ sender, createdAtMs, sentAtMs }) =>
      senders.includes(sender) && (sentAtMs ?? Number.POSITIVE_INFINITY) - createdAtMs > promptMsMax,
  )
  return Math.max(0, ...late.map(({ createdAtMs }) => createdAtMs - sinceMs))
}

/** From `sinceMs` until every request is accepted again. */
function untilAcceptedMs({ load }: Trial, sinceMs: number): number {
  return Math.max(0, ...refusalsIn(load.sent).map(({ atMs, tookMs }) => atMs + tookMs - sinceMs))
}

/** None of these times is longer than what is promised, as far as others leave the machine to us. */
export function expectWithin(found: Trial, times: Record<string, number>, promisedMs: number): void {
  const { name, stretch } = found
  note(name, times)
  if (stretch > 1)
    console.log(`${name}: a busy machine, ${promisedMs} ms are judged as ${promisedMs * stretch}`)
  for (const [what, ms] of Object.entries(times)) expect(ms, what).toBeLessThan(promisedMs * stretch)
}

/** Whatever Redis does, a send needs Postgres alone. */
export function expectAllAccepted({ load }: Trial): void {
  expect(refusalsIn(load.sent)).toEqual([])
}

/** There were refusals, and each says what is wrong, and when to come again. */
export function expectRefusals({ load }: Trial, code: 'unavailable' | 'storage_full'): void {
  const refusals = refusalsIn(load.sent)
  expect(refusals.length).toBeGreaterThan(0)
  const proper = { status: 503, code, retryAfter: expect.stringMatching(/^\d+$/) }
  for (const refusal of refusals) expect(refusal).toMatchObject(proper)
}

function refusalsIn(sent: Trial['load']['sent']): Attempt[] {
  return sent.flatMap((message) =>
    message.attempts.filter(({ status }) => status !== 200 && !(status === 400 && isOverdue(message))),
  )
}

const postgresBackMsMax = 3000

/** Soon after Postgres is back, messages are accepted and sent as before. */
export function expectPostgresBack(world: World, found: Trial, backMsMax = postgresBackMsMax): void {
  const { endedAtMs } = found
  const times = {
    'accepted after ms': untilAcceptedMs(found, endedAtMs),
    'prompt after ms': untilPromptMs(found, world.senders, endedAtMs),
  }
  expectWithin(found, times, backMsMax)
}
