export type PauseRange = { firstMs: number; maxMs: number }

/**
 * The pause after `failures` failures in a row: it doubles up to `maxMs`. `random` is in [0, 1) and shortens it by
 * up to half, so that attempts which failed together are not repeated together.
 */
export function growingPauseMs(
  failures: number,
  { firstMs, maxMs }: PauseRange,
  random = Math.random(),
): number {
  if (failures <= 0) return 0
  return Math.round(Math.min(maxMs, firstMs * 2 ** (failures - 1)) * (1 - random / 2))
}
