import { setTimeout as delay } from 'node:timers/promises'

type Options = { withinMs: number; everyMs: number }
type Find<Fact> = () => Promise<Fact | undefined | false> | Fact | undefined | false

const usual: Options = { withinMs: 20_000, everyMs: 25 }
/** Asking costs the processes that are waited for CPU time, so what takes longer is asked for less often. */
const growth = { factor: 1.6, mostMs: 200 }

/**
 * Calls `find` repeatedly until it finds something: every `everyMs`, without options at growing intervals. `what` names the
 * fact in the error.
 */
export function until<Fact>(what: string, find: Find<Fact>): Promise<Fact>
export function until<Fact>(what: string, options: Options, find: Find<Fact>): Promise<Fact>
export async function until<Fact>(
  what: string,
  ...given: [Find<Fact>] | [Options, Find<Fact>]
): Promise<Fact> {
  const [{ withinMs, everyMs }, find] = given.length === 1 ? [usual, ...given] : given
  const deadline = performance.now() + withinMs
  let pauseMs = everyMs
  for (;;) {
    const found = await find()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline)
      throw new Error(`Timed out after ${withinMs / 1000} s waiting for: ${what}`)
    await delay(pauseMs)
    if (given.length === 1) pauseMs = Math.min(pauseMs * growth.factor, growth.mostMs)
  }
}

/** For `vi.waitFor`, whose own limit of a second is too short when other processes have the CPU. */
export const eventually = { timeout: 20_000, interval: 50 }
