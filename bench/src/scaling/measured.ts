/**
 * Measurements that the model uses, each with the command that repeats it. Measured on 2 × AMD EPYC with other work, Node
 * 20.20.2, Postgres 18.4 and Redis on the same machine. CPU in ms.
 */
export const measured = {
  /** `bench statements`: with 500 workers, 100,000 senders and 52 weeks of history. */
  heartbeatCpuMs: 0.09,
  /** With all five statements, of which a poll at rest has two. */
  leasePollCpuMs: 1.6,
  workPollCpuMs: 1.9,
  /** `bench idle`, for any number of shards. Redis counts commands inside scripts. */
  idleWorker: { commands: 4.2, redisMs: 0.15 },
  /** `bench idle`: one message after the other, which is an upper bound. */
  perMessage: { statements: 7, postgresMs: 4.8, commands: 31, redisMs: 0.52 },
  /** `bench idle`: includes the start of the worker. */
  perLogin: { statements: 16, postgresMs: 12, commands: 46, redisMs: 1 },
  postgresConnections: { idle: 4, most: 11 },
  redisConnections: { perWorker: 4 },
  /** `bench idle` for shards, `bench memory` for senders. */
  rssMb: { base: 150, perShard: 0.02, perSender: 0.57 },
  /** `bench throughput`: many messages at once. */
  perMessageOfMany: { postgresMs: 0.75, redisMs: 0.23 },
  /** `bench restart`. */
  loginCpuMs: 33,
}

/** Defaults of the product that it does not export. */
export const product = {
  /** apps/worker/src/start.ts */
  tickMs: 500,
  /** describeShardsOwnedBy, listLiveWorkers. */
  statementsPerLeasePoll: 2,
  /** expireMessages, listDevicesWithWork, countLinkedDevices. */
  statementsPerWorkPoll: 3,
}
