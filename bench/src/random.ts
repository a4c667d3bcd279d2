/** The same numbers from 0 to 1 for the same seed (Lehmer's generator). */
export function makeRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
