import fc from 'fast-check'

/** Another one for every run. FUZZ_SEED repeats a run that failed. */
export function ownSeed(): number {
  return Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
}

/** `fc.assert` that prints only why and the seed: hundreds of requests as a counterexample help nobody. */
export async function holdProperty<Values>(
  property: fc.IAsyncProperty<Values>,
  { seed, numRuns }: { seed: number; numRuns: number },
): Promise<void> {
  const { failed, errorInstance } = await fc.check(property, { seed, numRuns, endOnFailure: true })
  if (failed)
    throw new Error(`With FUZZ_SEED=${seed}: ${(errorInstance as Error).message}`, { cause: errorInstance })
}
