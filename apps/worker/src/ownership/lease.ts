/** A shard that this worker owns. Every write for its devices carries `epoch` and is refused once a newer one exists. */
export type Lease = {
  readonly shard: number
  readonly epoch: number
  readonly workerId: string
  /** By the monotonic clock of this process, read before the heartbeat was sent. False: send nothing. */
  isValid(): boolean
}

/** Runs the devices of the owned shards. `start` and `stop` are called one at a time. */
export type ShardHost = {
  /** Returns once the devices of the shards are known; their sessions open in the background. */
  start(leases: Lease[]): Promise<void>
  /** `released`: finish messages in flight, then close the sockets. `lost`: close at once, write nothing. */
  stop(shards: number[], why: 'released' | 'lost'): Promise<void>
  /** Devices with credentials: what WORKER_CAPACITY counts, and what makes a shard expensive to move. */
  linkedDevices(shard: number): number
  /** A QR code is being shown. It would be worthless with another owner, so the shard should not move now. */
  isPairing(shard: number): boolean
}
