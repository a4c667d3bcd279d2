import { settings } from '@wagate/shared/settings'
import { significant } from '@wagate/test-kit/statistics'
import { restMsPerWorker } from '@wagate/worker/ownership/plan'
import type { Row } from '../table.ts'
import { measured, product } from './measured.ts'

export type Installation = {
  workers: number
  senders: number
  shards: number
  /** Of one sender, on average over all. */
  messagesPerMinute: number
}

type Work = { statements?: number; postgresMs?: number; commands?: number; redisMs?: number }

const heartbeatMs = settings.HEARTBEAT_MS.parse(undefined)
const pollMs = settings.OUTBOX_POLL_MS.parse(undefined)

/** What an installation asks of Postgres and Redis each second. */
export function describeLoad({ workers, senders, shards, messagesPerMinute }: Installation): Row[] {
  const { perMessage, perLogin } = measured
  const looks = Math.min((workers * 1000) / product.tickMs, 1000 / restMsPerWorker)
  const heartbeats = (workers * 1000) / heartbeatMs
  const polls = (workers * 1000) / pollMs
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
    row('looks at the leases', looks, {
      statements: product.statementsPerLook,
      postgresMs: measured.lookCpuMs,
    }),
    row('looks for work', polls, { statements: product.statementsPerPoll, postgresMs: measured.pollCpuMs }),
    row('idle shards', shards, measured.idleShard),
    row('messages, one by one', messages, perMessage),
    row('the same, many at once', messages, measured.perMessageOfMany),
    row('1,000 logins a second', 1000, perLogin),
  ]
}

/** What it holds open, and what one of its workers carries. */
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
    'Redis connections': workers * redisConnections.perWorker + shards * redisConnections.perShard,
    'MB a worker': Math.round(
      rssMb.base + (rssMb.perShard * shards) / workers + (rssMb.perSender * senders) / workers,
    ),
  }
}
