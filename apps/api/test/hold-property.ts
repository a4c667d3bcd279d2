import fc from 'fast-check'

/** `fc.assert` that prints only why and the seed: hundreds of requests as a counterexample help nobody. */
export async function holdProperty<Values>(
  property: fc.IAsyncProperty<Values>,
  { seed, numRuns }: { seed: number; numRuns: number },
): Promise<void> {
  const { failed, errorInstance } = await fc.check(property, { seed, numRuns, endOnFailure: true })
  if (failed)
    throw new Error(`With seed ${seed}: ${(errorInstance as Error).message}`, { cause: errorInstance })
}
