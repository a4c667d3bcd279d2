import fc from 'fast-check'

/** A new seed for every run. FUZZ_SEED repeats a failed run. */
export function ownSeed(): number {
  return Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
}

/** Like `fc.assert`, but prints only the reason and the seed, not hundreds of requests as a counterexample. */
export async function holdProperty<Values>(
  property: fc.IAsyncProperty<Values>,
  { seed, numRuns }: { seed: number; numRuns: number },
): Promise<void> {
  const { failed, errorInstance } = await fc.check(property, { seed, numRuns, endOnFailure: true })
  if (failed)
    throw new Error(`With FUZZ_SEED=${seed}: ${(errorInstance as Error).message}`, { cause: errorInstance })
}
