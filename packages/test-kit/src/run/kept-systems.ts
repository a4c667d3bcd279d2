import type { Devnet } from '@wagate/devnet/devnet'

export type RunningSystem = {
  devnet: Devnet
  metricsPorts: Map<string, number>
  end(): Promise<void>
}

/** `leaks.ts` does not count its processes. */
type KeptSystem = RunningSystem & { processes: number; sinceMs: number }

/** Systems that run between two files of this process, for the next one that needs one, by their number of workers. */
export const keptSystems = new Map<number, KeptSystem>()

/** A system that does nothing takes a twentieth of a processor, as much in 100 s as the start of another one. */
const keptMsMax = 60_000

export async function endUnusedSystems(): Promise<void> {
  for (const [workers, system] of keptSystems) {
    if (performance.now() - system.sinceMs < keptMsMax) continue
    keptSystems.delete(workers)
    await system.end()
  }
}
