/** The assumptions of a simulation. */
export type Setup = {
  workers: number
  shards: number
  senders: number
  /** In linked devices, of each worker. */
  capacity: number
  tickMs: number
  heartbeatMs: number
  leaseTtlMs: number
  /** Of one worker with many devices to log in. */
  loginsPerSecond: number
  /** Of all workers together, bounded by the CPU of Postgres. */
  loginsPerSecondOfAll: number
}

export type Departure = 'stopped' | 'killed' | 'cut off'
