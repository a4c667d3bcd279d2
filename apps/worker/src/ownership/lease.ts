/** A shard that this worker owns. Every write for its devices carries `epoch`, and misses once it is not the newest. */
export type Lease = {
  readonly shard: number
  readonly epoch: number
  readonly workerId: string
  /** By this process's monotonic clock, taken before the heartbeat was sent. False: send nothing. */
  isValid(): boolean
}

/** What holds the sessions of the owned shards. `take` and `drop` are called one at a time, never for the same shard at once. */
export type ShardHolder = {
  /** Returns once the devices of the shards are known; their sessions open in the background. */
  take(leases: Lease[]): Promise<void>
  /** `released`: finish what is on the wire, then close the sockets. `lost`: close at once, write nothing. */
  drop(shards: number[], why: 'released' | 'lost'): Promise<void>
  /** Devices with credentials: what WORKER_CAPACITY counts, and what makes a shard dear to move. */
  linkedDevices(shard: number): number
  /** A person is about to scan a QR code, which another owner would make worthless: not a moment to move. */
  isPairing(shard: number): boolean
}
