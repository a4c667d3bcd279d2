import { setTimeout as delay } from 'node:timers/promises'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { listDevicesWithWork } from '@wagate/db/queries/devices/device-owner-view'
import { acceptMessages } from '@wagate/db/queries/messages/accept-messages'
import { expireMessages, failUnlinkedMessages } from '@wagate/db/queries/messages/unsendable-messages'
import { beginning, deleteExpiredIdempotencyKeys } from '@wagate/db/queries/retention/housekeeping'
import { releaseShards } from '@wagate/db/queries/workers/shard-leases'
import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import { quantile, significant } from '@wagate/test-kit/statistics'
import { endInPages } from '@wagate/worker/statements/end-in-pages'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { devices, fenceOf, fillTables, type Size } from './mass/fill.ts'
import type { Row } from './table.ts'
import { withThrowAwayPostgres } from './throw-away-postgres.ts'

const sizes: Record<'full' | 'short', Size> = {
  full: { expiring: 1_000_000, keys: 5_000_000, scheduled: 1_000_000, unlinked: 100_000 },
  short: { expiring: 50_000, keys: 200_000, scheduled: 50_000, unlinked: 20_000 },
}
const undisturbedMs = 10_000
/** The limit for a phase. Longer phases are cut off, since their effect is visible by then. */
const phaseMsMax = 60_000
const pauseBetweenBatchesMs = 50
const shards = Array.from({ length: 50 }, (_, n) => n + 1)

type Samples = { acceptMs: number[]; pollMs: number[]; handOverMs: number[] }

/** The latency of accepts, polls and hand-overs while masses of rows expire or are deleted. */
export async function measureMass({ short, signal }: BenchmarkOptions): Promise<Report> {
  const size = short ? sizes.short : sizes.full
  return withThrowAwayPostgres({ shards: 256, signal }, async ({ url }) => {
    const db = openDatabase(url, { poolSize: 8, applicationName: 'bench', statementTimeoutMs: 4000 })
    try {
      // Without these rows, nothing disturbs the first phase.
      await fillTables(db.$client, { ...size, expiring: 0, scheduled: 0, unlinked: 0, keys: 0 })
      const nothing = await sample(db, signal, () => delay(short ? undisturbedMs / 2 : undisturbedMs))
      await fillMore(url, size)
      const phases: [string, Samples][] = [['undisturbed', nothing]]
      for (const [name, work] of Object.entries(workOf(db)))
        phases.push([name, await sample(db, signal, work)])
      return makeReport(size, phases)
    } finally {
      await closeDatabase(db)
    }
  })
}

async function fillMore(url: string, size: Size): Promise<void> {
  const db = openDatabase(url, { poolSize: 1, applicationName: 'bench', statementTimeoutMs: 600_000 })
  await db.$client`TRUNCATE devices, accounts CASCADE`
  await fillTables(db.$client, size)
  await closeDatabase(db)
}

/** The same work as in the worker, each for one device or table. */
function workOf(db: Database): Record<string, (mayGoOn: () => boolean) => Promise<unknown>> {
  const ttlMs = 72 * 3_600_000
  const { expiring, unlinked } = devices
  return {
    'scheduled messages that are not due': () => delay(undisturbedMs),
    'messages expire': (mayGoOn) =>
      endInPages(
        (from) => expireMessages(db, fenceOf(expiring), expiring, from, { ttlMs, sentence: 'x' }),
        mayGoOn,
      ),
    'a device with waiting messages is unlinked': (mayGoOn) =>
      endInPages((from) => failUnlinkedMessages(db, fenceOf(unlinked), unlinked, from, 'x'), mayGoOn),
    'old idempotency keys are deleted': async (mayGoOn) => {
      let next: string | undefined = beginning
      while (next !== undefined && mayGoOn()) {
        next = (await deleteExpiredIdempotencyKeys(db, next)).next
        await delay(pauseBetweenBatchesMs)
      }
    },
  }
}

/** Times accepts, polls and hand-overs during the work, each in a loop with pauses. */
async function sample(
  db: Database,
  signal: AbortSignal,
  work: (mayGoOn: () => boolean) => Promise<unknown>,
): Promise<Samples> {
  const samples: Samples = { acceptMs: [], pollMs: [], handOverMs: [] }
  const endsAt = performance.now() + phaseMsMax
  const mayGoOn = () => !signal.aborted && performance.now() < endsAt
  let isOver = false
  const repeat = async (times: number[], pauseMs: number, run: () => Promise<unknown>) => {
    while (!isOver) {
      const startedAt = performance.now()
      await run()
      times.push(performance.now() - startedAt)
      await delay(pauseMs)
    }
  }
  const loops = [
    repeat(samples.acceptMs, 5, () => accept(db)),
    repeat(samples.pollMs, 200, () => listDevicesWithWork(db, shards)),
    repeat(samples.handOverMs, 100, () => waitForLeases(db)),
  ]
  await work(mayGoOn)
  isOver = true
  await Promise.all(loops)
  return samples
}

async function accept(db: Database): Promise<void> {
  const sender = `1555000000${devices.accepting}`
  const id = makeMessageId(sender)
  const text = { type: 'text' as const, body: 'x', url: null, filename: null, media: null, idempotency: null }
  const [account] = await db.$client<{ id: number }[]>`SELECT account_id AS id FROM devices WHERE id = 1`
  const message = { id, waId: whatsAppIdOf(id), accountId: account?.id ?? 0, sender, number: '15560000001' }
  const [answer] = await acceptMessages(db, [{ ...message, ...text, sendAt: null }], { mediaBytesMax: 0 })
  if (answer?.outcome !== 'accepted') throw new Error(`A message was not accepted: ${answer?.outcome}`)
}

/** A release waits for all statements with the lease. This one has another owner, so it changes nothing. */
async function waitForLeases(db: Database): Promise<void> {
  const sql = db.$client
  const disturbed = [devices.expiring, devices.unlinked]
  await releaseShards(db, '00000000-0000-4000-8000-000000000002', [{ shard: 1, epoch: 1 }])
  await sql`SELECT 1 FROM shard_leases WHERE shard = ANY (${disturbed}) ORDER BY shard FOR UPDATE`
}

function makeReport(size: Size, phases: [string, Samples][]): Report {
  const rows = phases.map(([phase, { acceptMs, pollMs, handOverMs }]): Row => {
    const of = (times: number[], share: number) => significant(quantile(times, share))
    return {
      phase,
      'accept p99 ms': of(acceptMs, 0.99),
      'poll p50 ms': of(pollMs, 0.5),
      'poll p99 ms': of(pollMs, 0.99),
      'hand-over p50 ms': of(handOverMs, 0.5),
      'hand-over p99 ms': of(handOverMs, 0.99),
      accepts: acceptMs.length,
    }
  })
  const figures = Object.entries(size).map(([what, count]) => `${count} ${what}`)
  return {
    tables: [{ title: 'Latency of other work', rows }],
    notes: [`${figures.join(', ')}. A hand-over waits for the lease of the shard whose rows are changed.`],
    samples: phases,
  }
}
