import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@wagate/db/client'
import { keepEventEpoch } from '@wagate/db/queries/events/event-epoch'
import { deleteOldContacts, keyHiddenMessages } from '@wagate/db/queries/retention/contact-upkeep'
import {
  beginning,
  type DeletedBatch,
  deleteExpiredIdempotencyKeys,
  deleteExpiredMailedLinks,
  deleteFormerDevices,
  deleteLostMediaParts,
  deleteOldAuditEntries,
  deleteOldMessageCounts,
  deleteOldNewContacts,
  deleteOldPairingLinks,
  deleteOldReadRequests,
  deleteOldWebhookRows,
  deleteOldWriteKeys,
  deleteUnusedContacts,
  deleteUnusedMedia,
} from '@wagate/db/queries/retention/housekeeping'
import {
  countPartitionWeeksAhead,
  dropOldPartitions,
  ensurePartitions,
  type PartitionedTable,
} from '@wagate/db/queries/statements/partitions'
import type { Logger } from '@wagate/runtime/logger'
import type { Running } from '@wagate/runtime/running'
import { deleteDueAccounts } from './account-deletions.ts'

export type Housekeeping = Running & {
  /** The number of weeks from now that have a partition for their messages; undefined before the first check. */
  partitionWeeksAhead(): number | undefined
  /** Whether partitions were made, or found to be there, within the last half hour. */
  isUpToDate(nowMs?: number): boolean
}

/** Eight are created ahead. With fewer than this, creating them has failed for a month. */
export const partitionWeeksAheadMin = 4

const minuteMs = 60_000
const partitionsEveryMs = 10 * minuteMs
const upToDateMs = 3 * partitionsEveryMs
const cleaningEveryMs = 60 * minuteMs
const accountsEveryMs = minuteMs
const contactsEveryMs = 24 * 60 * minuteMs
/** The pause between two batches, in which other statements and vacuum run. */
const pauseMs = 50

type HousekeepingOptions = {
  retentionDays: number
  eventRetentionDays: number
  editSecretDays: number
  /** If false, it only watches the partitions: another process creates and drops them, and cleans. */
  isDoneHere: boolean
}

/**
 * Creates partitions ahead and keeps the epoch of events every ten minutes, cleans every hour, and deletes accounts that are
 * due every minute, in steps that fail independently. All workers try, and an advisory lock lets one at a time do it. Needs a
 * role that owns the tables.
 */
export function startHousekeeping(
  db: Database,
  logger: Logger,
  { retentionDays, eventRetentionDays, editSecretDays, isDoneHere }: HousekeepingOptions,
): Housekeeping {
  const stopping = new AbortController()
  let weeksAhead: number | undefined
  let keptAtMs = Number.NEGATIVE_INFINITY
  let contactsAfterMs = performance.now() + cleaningEveryMs * Math.random()

  async function keepPartitions(): Promise<void> {
    if (isDoneHere) {
      await attempt('making partitions', async () => {
        await ensurePartitions(db.$client)
        keptAtMs = performance.now()
      })
      await attempt('keeping the epoch of events', () => keepEventEpoch(db.$client))
    }
    await attempt('counting partitions', async () => {
      weeksAhead = await countPartitionWeeksAhead(db.$client)
    })
    if (weeksAhead === undefined || weeksAhead >= partitionWeeksAheadMin) return
    logger.error({ weeksAhead }, 'Missing partitions: messages of those weeks could not be stored')
  }

  async function clean(): Promise<void> {
    await dropPartitions('messages', retentionDays)
    await dropPartitions('events', eventRetentionDays)
    await deleteAll('idempotency keys', (after) => deleteExpiredIdempotencyKeys(db, after))
    await deleteAll('audit log', (after) => deleteOldAuditEntries(db, retentionDays, after))
    await deleteAll('media', (after) => deleteUnusedMedia(db, after))
    await deleteAll('parts of media', (after) => deleteLostMediaParts(db, after))
    await deleteAll('message counts', () => deleteOldMessageCounts(db))
    await deleteAll('counted contacts', (after) => deleteOldNewContacts(db, after))
    await deleteAll('removed devices', () => deleteFormerDevices(db))
    await deleteAll('one-time links', (after) => deleteOldPairingLinks(db, after))
    await deleteAll('links of mails', () => deleteExpiredMailedLinks(db))
    await deleteAll('read requests', (after) => deleteOldReadRequests(db, after))
    await deleteAll('keys of writes', (after) => deleteOldWriteKeys(db, after))
    for (const table of ['webhook_attempts', 'webhook_deliveries'] as const)
      await deleteAll(table, (after) => deleteOldWebhookRows(db, table, eventRetentionDays, after))
    await cleanContacts()
  }

  async function dropPartitions(table: PartitionedTable, days: number): Promise<void> {
    await attempt(`dropping partitions of ${table}`, async () => {
      const partitions = await dropOldPartitions(db.$client, table, days)
      if (partitions.length > 0) logger.info({ partitions }, 'Dropped partitions past retention')
    })
  }

  const deleteAccounts = () =>
    attempt('deleting accounts', () => deleteDueAccounts(db, logger, stopping.signal))

  /** It scans all stored keys of contacts. */
  async function cleanContacts(): Promise<void> {
    const nowMs = performance.now()
    if (nowMs < contactsAfterMs) return
    contactsAfterMs = nowMs + contactsEveryMs
    await deleteAll('unused contacts', (after) => deleteUnusedContacts(db, editSecretDays, after))
    await deleteAll('old contacts', (after) => deleteOldContacts(db, retentionDays, after))
    await inSteps('storing messages of LIDs under their contacts', (after) => keyHiddenMessages(db, after))
  }

  async function deleteAll(what: string, step: (after: string) => Promise<DeletedBatch>): Promise<void> {
    const deleted = await inSteps(`deleting ${what}`, step)
    if (deleted > 0) logger.info({ what, deleted }, 'Deleted expired rows')
  }

  async function inSteps(what: string, step: (after: string) => Promise<DeletedBatch>): Promise<number> {
    let changed = 0
    await attempt(what, async () => {
      for await (const batch of batchesOf(step, stopping.signal)) changed += batch.deleted
    })
    return changed
  }

  async function attempt(what: string, work: () => Promise<void>): Promise<void> {
    if (stopping.signal.aborted) return
    await work().catch((err: unknown) => logger.warn({ err, what }, 'Housekeeping step failed, will retry'))
  }

  async function repeat(work: () => Promise<void>, everyMs: number): Promise<void> {
    while (!stopping.signal.aborted) {
      await work()
      await pause(everyMs, stopping.signal)
    }
  }

  const running = Promise.all([
    repeat(keepPartitions, partitionsEveryMs),
    ...(isDoneHere ? [repeat(clean, cleaningEveryMs), repeat(deleteAccounts, accountsEveryMs)] : []),
  ])
  return {
    partitionWeeksAhead: () => weeksAhead,
    isUpToDate: (nowMs = performance.now()) => nowMs - keptAtMs < upToDateMs,
    async close() {
      stopping.abort()
      await running
    },
  }
}

async function* batchesOf(
  step: (after: string) => Promise<DeletedBatch>,
  signal: AbortSignal,
): AsyncGenerator<DeletedBatch> {
  let next: string | undefined = beginning
  while (next !== undefined && !signal.aborted) {
    const batch = await step(next)
    yield batch
    next = batch.next
    if (next !== undefined) await pause(pauseMs, signal)
  }
}

const pause = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }).catch(() => undefined)
