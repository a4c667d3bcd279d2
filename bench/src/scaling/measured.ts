/**
 * Measurements that the model uses, each with the command that repeats it. Measured on 2 × AMD EPYC, Node
 * 20.20.2, Postgres 18.4 and Redis on the same machine. CPU in ms.
 */
export const measured = {
  /** `bench statements`: with 500 workers, 100,000 senders and 52 weeks of history. */
  heartbeatCpuMs: 0.13,
  /** With all five statements, of which a poll at rest has two. */
  leasePollCpuMs: 2.7,
  workPollCpuMs: 6.6,
  /** `bench idle`, for any number of shards. Redis counts commands inside scripts. */
  idleWorker: { commands: 3.2, redisMs: 0.15 },
  /** `bench idle`: one message after the other, which is an upper bound. */
  perMessage: { statements: 5, postgresMs: 2.4, commands: 16, redisMs: 0.28 },
  /** `bench idle`: includes the start of the worker. */
  perLogin: { statements: 15, postgresMs: 12, commands: 7, redisMs: 0.8 },
  postgresConnections: { idle: 4, most: 16 },
  redisConnections: { perWorker: 4 },
  /** `bench idle` for shards, `bench memory` for senders. */
  rssMb: { base: 100, perShard: 0.02, perSender: 0.2 },
  /** `bench throughput`: many messages at the same time. */
  perMessageOfMany: { postgresMs: 0.42, redisMs: 0.02 },
  /** `bench restart`. */
  loginCpuMs: 10,
}

/** Defaults of the product that it does not export. */
export const product = {
  /** apps/worker/src/start.ts */
  tickMs: 500,
  /** describeShardsOwnedBy, listLiveWorkers. */
  statementsPerLeasePoll: 2,
  /** listDevicesWithWork, listDueMedia, and announceDisconnections while a device is offline. */
  statementsPerWorkPoll: 3,
}
