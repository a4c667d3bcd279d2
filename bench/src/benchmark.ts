import type { Table } from './table.ts'

export type BenchmarkOptions = {
  short: boolean
  data?: string | undefined
  profile?: string | undefined
  kills?: number | undefined
  senders?: number | undefined
  node24?: string | undefined
  signal: AbortSignal
}

export type Report = {
  tables: Table[]
  notes: string[]
  /** Every single measurement, for the JSON file. */
  samples: unknown
  /** What was too slow, where that fails the run: it is said after the figures. */
  failure?: string | undefined
}

export type Benchmark = (options: BenchmarkOptions) => Promise<Report>
