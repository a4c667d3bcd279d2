import { timeAwake } from '@wagate/test-kit/awake-time'
import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import { until } from '@wagate/test-kit/until'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import {
  countPartitionWeeksAhead,
  dropOldPartitions,
  ensurePartitions,
  listPartitions as listPartitionsOfBoth,
} from '../src/queries/statements/partitions.ts'

let test: Awaited<ReturnType<typeof createTestDatabase>>
let db: Database

beforeEach(async () => {
  test = await createTestDatabase({ isWeekly: true })
  db = openDatabase(test.url, { poolSize: 4, applicationName: 'test', statementTimeoutMs: 1500 })
})
afterEach(async () => {
  await closeDatabase(db)
  await test.drop()
})

async function listPartitions(): Promise<string[]> {
  const rows = await db.$client<{ name: string }[]>`
    SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'messages'::regclass ORDER BY 1`
  return rows.map(({ name }) => name)
}

async function insertMessage(createdAt: string, status = 'read'): Promise<void> {
  await db.$client`
    INSERT INTO messages (id, account_id, device_id, created_at, direction, type, sender, number, status, wa_id, link_generation)
    VALUES (gen_random_uuid(), 1, 1, ${createdAt}, 'out', 'text', '1', '2', ${status}, 'X', 1)`
}

/** Creates a partition of a past week with one message. */
async function addOldPartition(name: string, from: string, to: string, status = 'read'): Promise<void> {
  await db.$client.unsafe(
    `CREATE TABLE ${name} PARTITION OF messages FOR VALUES FROM ('${from}') TO ('${to}')`,
  )
  await insertMessage(from, status)
}

/** A long transaction that reads all messages, such as a backup. */
async function readForLong(): Promise<() => Promise<void>> {
  const reader = await db.$client.reserve()
  await reader`BEGIN`
  await reader`SET LOCAL idle_in_transaction_session_timeout = 0`
  await reader`SELECT count(*) FROM messages`
  return async () => {
    await reader`COMMIT`
    reader.release()
  }
}

describe('creating partitions ahead', () => {
  it('leaves few events without statistics, for which Postgres would plan to sort all', async () => {
    const options = await db.$client<{ analyzedFrom: string | null }[]>`
      SELECT substring(array_to_string(reloptions, ' ') FROM 'autovacuum_analyze_threshold=([0-9]+)') AS "analyzedFrom"
      FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'events'::regclass`
    expect(options.map(({ analyzedFrom }) => analyzedFrom)).toEqual(options.map(() => '1000'))
    expect(options.length).toBeGreaterThan(8)
  })

  it('creates missing partitions, and then finds nothing to do', async () => {
    const before = await listPartitions()
    expect(await countPartitionWeeksAhead(db.$client)).toBe(8)
    await db.$client.unsafe(`DROP TABLE ${before.at(-1)}, ${before.at(-3)}`)
    expect(await countPartitionWeeksAhead(db.$client)).toBe(5)
    await ensurePartitions(db.$client)
    await ensurePartitions(db.$client)
    expect(await listPartitions()).toEqual(before)
    expect(await countPartitionWeeksAhead(db.$client)).toBe(8)
  })

  it('takes the weeks of a longer partition for existing ones, and none of the other table', async () => {
    const joined = await createTestDatabase()
    const longer = openDatabase(joined.url, {
      poolSize: 1,
      applicationName: 'test',
      statementTimeoutMs: 1500,
    })
    try {
      const ofBoth = async () => (await listPartitionsOfBoth(longer.$client)).map(({ name }) => name)
      const before = await ofBoth()
      expect(await countPartitionWeeksAhead(longer.$client)).toBe(8)
      await ensurePartitions(longer.$client)
      expect(await ofBoth()).toEqual(before)
      await longer.$client.unsafe(`DROP TABLE ${before.findLast((name) => name.startsWith('events_'))}`)
      expect(await countPartitionWeeksAhead(longer.$client)).toBe(0)
      await ensurePartitions(longer.$client)
      const isOfMessages = (name: string) => name.startsWith('messages_')
      expect((await ofBoth()).filter(isOfMessages)).toEqual(before.filter(isOfMessages))
      expect(await countPartitionWeeksAhead(longer.$client)).toBe(8)
    } finally {
      await closeDatabase(longer)
      await joined.drop()
    }
  })

  it('counts -1 weeks when no message can be stored now', async () => {
    const partitions = await listPartitions()
    await db.$client.unsafe(`DROP TABLE ${partitions[1]}`)
    expect(await countPartitionWeeksAhead(db.$client)).toBe(-1)
    await db.$client.unsafe(`DROP TABLE ${partitions[0]}, ${partitions.slice(2).join()}`)
    expect(await countPartitionWeeksAhead(db.$client)).toBe(-1)
    await ensurePartitions(db.$client)
    expect(await countPartitionWeeksAhead(db.$client)).toBe(8)
  })

  it('creates the others when one fails', async () => {
    const before = await listPartitions()
    await db.$client.unsafe(`DROP TABLE ${before.at(-1)}, ${before.at(-2)}, ${before.at(-3)}`)
    // A partition that an operator created overlaps.
    const name = before.at(-2)?.replace('messages_', '') ?? ''
    const day = `${name.slice(0, 4)}-${name.slice(4, 6)}-${name.slice(6)}`
    await db.$client.unsafe(
      `CREATE TABLE mine PARTITION OF messages FOR VALUES FROM ('${day} 01:00Z') TO ('${day} 02:00Z')`,
    )
    await expect(ensurePartitions(db.$client)).rejects.toThrow('Could not create partitions')
    expect(await listPartitions()).toEqual(expect.arrayContaining([before.at(-3), before.at(-1)]))
  })

  it('waits for no statement that reads or writes messages', async () => {
    const before = await listPartitions()
    await db.$client.unsafe(`DROP TABLE ${before.at(-1)}`)
    const end = await readForLong()
    await ensurePartitions(db.$client)
    await end()
    expect(await listPartitions()).toEqual(before)
  })
})

describe('partitions past the retention', () => {
  it('are dropped unless they hold a waiting message', async () => {
    await addOldPartition('messages_done', '2020-01-02', '2020-01-09')
    await addOldPartition('messages_waiting_2020', '2020-01-09', '2020-01-16', 'queued')
    const before = await listPartitions()
    expect(await dropOldPartitions(db.$client, 'messages', 30)).toEqual(['messages_done'])
    expect(await listPartitions()).toEqual(before.filter((name) => name !== 'messages_done'))
    expect(await db.$client`SELECT 1 FROM pg_class WHERE relname = 'messages_done'`).toEqual([])
  })

  it('are kept while they hold a message that is scheduled for later', async () => {
    await addOldPartition('messages_scheduled_2020', '2020-01-02', '2020-01-09', 'queued')
    await db.$client`UPDATE messages SET send_at = now() + interval '1 day'`
    expect(await dropOldPartitions(db.$client, 'messages', 30)).toEqual([])
    await db.$client`UPDATE messages SET status = 'sent'`
    expect(await dropOldPartitions(db.$client, 'messages', 30)).toEqual(['messages_scheduled_2020'])
  })

  it('are dropped without blocking new messages while a long transaction reads the history', async () => {
    await addOldPartition('messages_done', '2020-01-02', '2020-01-09')
    const end = await readForLong()
    const dropping = dropOldPartitions(db.$client, 'messages', 30).catch((error: unknown) => error)
    await until('the partition is being detached', { withinMs: 2000, everyMs: 20 }, async () => {
      const [row] = await db.$client<{ waits: boolean }[]>`
        SELECT EXISTS (
          SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE '%DETACH%' AND wait_event_type = 'Lock') AS waits`
      return row?.waits === true && (await listPartitions()).length > 0
    })
    const { awakeMs } = await timeAwake(() => insertMessage(new Date().toISOString()))
    expect(awakeMs).toBeLessThan(500)
    // It timed out, and the half-detached partition is no longer part of the history.
    expect(await dropping).toMatchObject({ code: '57014' })
    await end()
  })

  it('are dropped after an interrupted detachment', async () => {
    await addOldPartition('messages_done', '2020-01-02', '2020-01-09')
    await addOldPartition('messages_also_done', '2020-01-09', '2020-01-16')
    const end = await readForLong()
    await expect(dropOldPartitions(db.$client, 'messages', 30)).rejects.toMatchObject({ code: '57014' })
    await end()
    const dropped = await dropOldPartitions(db.$client, 'messages', 30)
    expect(dropped.sort()).toEqual(['messages_also_done', 'messages_done'])
    expect(await dropOldPartitions(db.$client, 'messages', 30)).toEqual([])
  })

  it('are dropped when the process ended after the detachment, but archived tables are kept', async () => {
    await addOldPartition('messages_done', '2020-01-02', '2020-01-09')
    await addOldPartition('messages_archived', '2020-01-09', '2020-01-16')
    await db.$client.unsafe('ALTER TABLE messages DETACH PARTITION messages_archived')
    const holder = await db.$client.reserve()
    await holder`BEGIN`
    await holder`SELECT 1 FROM messages_archived`
    // A lock on the table makes its drop fail after the detachment.
    const failing = new Proxy(db.$client, {
      get: (sql, name) => (name === 'begin' ? refuseDrop(sql) : Reflect.get(sql, name)),
    })
    await expect(dropOldPartitions(failing, 'messages', 30)).rejects.toThrow('The process ended')
    await holder`COMMIT`
    holder.release()
    expect(await dropOldPartitions(db.$client, 'messages', 30)).toEqual(['messages_done'])
    expect(await db.$client`SELECT 1 FROM messages_archived`).toHaveLength(1)
  })
})

/** Allows the comment and fails before the drop. */
function refuseDrop(sql: Database['$client']): unknown {
  return (work: (tx: { unsafe(text: string): Promise<unknown> }) => Promise<unknown>) =>
    sql.begin((tx) =>
      work({
        unsafe(text) {
          if (text.startsWith('DROP')) throw new Error('The process ended')
          return tx.unsafe(text)
        },
      }),
    )
}
