import { settings } from '@wagate/shared/settings'
import { significant } from '@wagate/test-kit/statistics'
import { restMsPerWorker } from '@wagate/worker/ownership/plan'
import type { Row } from '../table.ts'
import { measured, product } from './measured.ts'

export type Installation = {
  workers: number
  senders: number
  shards: number
  /** Of one sender, on average. */
  messagesPerMinute: number
}

type Work = { statements?: number; postgresMs?: number; commands?: number; redisMs?: number }

const heartbeatMs = settings.HEARTBEAT_MS.parse(undefined)
const workPollMs = settings.OUTBOX_POLL_MS.parse(undefined)

/** The load of an installation on Postgres and Redis. */
export function describeLoad({ workers, senders, messagesPerMinute }: Installation): Row[] {
  const { perMessage, perLogin } = measured
  const leasePolls = Math.min((workers * 1000) / product.tickMs, 1000 / restMsPerWorker)
  const heartbeats = (workers * 1000) / heartbeatMs
  const workPolls = (workers * 1000) / workPollMs
  const messages = (senders * messagesPerMinute) / 60
  const row = (what: string, times: number, work: Work): Row => ({
    what,
    'times/s': Math.round(times),
    'Postgres statements/s': Math.round(times * (work.statements ?? Number.NaN)),
    'Postgres cores': significant((times * (work.postgresMs ?? Number.NaN)) / 1000, 2),
    'Redis commands/s': Math.round(times * (work.commands ?? Number.NaN)),
    'Redis cores': significant((times * (work.redisMs ?? Number.NaN)) / 1000, 2),
  })
  return [
    row('heartbeats', heartbeats, { statements: 1, postgresMs: measured.heartbeatCpuMs }),
    row('lease polls', leasePolls, {
      statements: product.statementsPerLeasePoll,
      postgresMs: measured.leasePollCpuMs,
    }),
    row('work polls', workPolls, {
      statements: product.statementsPerWorkPoll,
      postgresMs: measured.workPollCpuMs,
    }),
    row('idle workers', workers, measured.idleWorker),
    row('single messages', messages, perMessage),
    row('messages in batches', messages, measured.perMessageOfMany),
    row('1,000 logins a second', 1000, perLogin),
  ]
}

/** The connections of an installation, and the load of one worker. */
export function describeSize({ workers, senders, shards }: Installation): Row {
  const { rssMb, redisConnections, postgresConnections } = measured
  return {
    workers,
    senders,
    SHARDS: shards,
    'senders a worker': Math.round(senders / workers),
    'senders a shard': Math.round(senders / shards),
    'idle workers': Math.max(0, workers - shards),
    'Postgres connections': `${workers * postgresConnections.idle}–${workers * postgresConnections.most}`,
    'Redis connections': workers * redisConnections.perWorker,
    'MB a worker': Math.round(
      rssMb.base + (rssMb.perShard * shards) / workers + (rssMb.perSender * senders) / workers,
    ),
  }
}
