import { setTimeout as delay } from 'node:timers/promises'

type Options = { withinMs: number; everyMs: number }

/** Asks again until there is an answer. `what` names the fact in the failure. */
export async function until<Fact>(
  what: string,
  { withinMs, everyMs }: Options,
  find: () => Promise<Fact | undefined | false> | Fact | undefined | false,
): Promise<Fact> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = await find()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`Did not come true in ${withinMs / 1000} s: ${what}`)
    await delay(everyMs)
  }
}
