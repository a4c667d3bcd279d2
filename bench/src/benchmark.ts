import type { Table } from './table.ts'

export type BenchmarkOptions = {
  short: boolean
  data?: string | undefined
  profile?: string | undefined
  kills?: number | undefined
  senders?: number | undefined
  signal: AbortSignal
}

export type Report = {
  tables: Table[]
  notes: string[]
  /** Every single measurement, for the JSON file. */
  samples: unknown
  /** What was too slow, if that fails the run. Printed after the figures. */
  failure?: string | undefined
}

export type Benchmark = (options: BenchmarkOptions) => Promise<Report>
