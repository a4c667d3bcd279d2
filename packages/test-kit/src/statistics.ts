/** The smallest value that at least this share (0 to 1) of the values does not exceed; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.max(1, Math.ceil(share * sorted.length))
  return sorted[rank - 1] ?? Number.NaN
}

/** The middle value, or the mean of the two in the middle; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
  return (lower + upper) / 2
}

/** `p50`, `p99` and `max`, rounded. */
export function spread(values: readonly number[]): { p50: number; p99: number; max: number } {
  return {
    p50: Math.round(quantile(values, 0.5)),
    p99: Math.round(quantile(values, 0.99)),
    max: Math.round(quantile(values, 1)),
  }
}

/** With this many digits in all, as far as they say something: 1234, 12.3, 0.123. */
export function significant(value: number, digits = 3): number {
  if (!Number.isFinite(value)) return value
  return Math.abs(value) >= 10 ** (digits - 1) ? Math.round(value) : Number(value.toPrecision(digits))
}
