import { expect } from 'vitest'
import type { Attempt } from '../src/harness/load.ts'
import { note } from './figures.ts'
import { isShort } from './size.ts'
import type { Trial } from './trial.ts'

/** A message that waits longer was found by the owner's own look, or stood behind a backlog. */
const promptMsMax = 2000

/** From `sinceMs` until messages of these senders are sent promptly again; 0 when they always were. */
export function untilPromptMs({ messages }: Trial, senders: string[], sinceMs: number): number {
  const late = messages.filter(
    ({ sender, createdAtMs, sentAtMs }) =>
      senders.includes(sender) && (sentAtMs ?? Number.POSITIVE_INFINITY) - createdAtMs > promptMsMax,
  )
  return Math.max(0, ...late.map(({ createdAtMs }) => createdAtMs - sinceMs))
}

/** From `sinceMs` until every request is accepted again. */
export function untilAcceptedMs({ load }: Trial, sinceMs: number): number {
  return Math.max(0, ...refusalsIn(load.sent).map(({ atMs, tookMs }) => atMs + tookMs - sinceMs))
}

/** Times are asserted in the long form only: in the short one the machine does other things beside. */
export function expectBack(name: string, times: Record<string, number>, withinMs: number): void {
  note(name, times)
  if (!isShort) for (const ms of Object.values(times)) expect(ms).toBeLessThan(withinMs)
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
  return sent.flatMap(({ attempts }) => attempts.filter(({ status }) => status !== 200))
}
