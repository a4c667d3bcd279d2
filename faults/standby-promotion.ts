import { execFileSync } from 'node:child_process'
import { realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { startPostgres } from '@wagate/local-servers/postgres'
import { eventTypes } from '@wagate/shared/event-types'
import { openRecords } from '@wagate/test-kit/load/records'
import { type Standby, startStandby } from '@wagate/test-kit/servers/standby'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { openEventFollowers } from './event-followers.ts'
import { note } from './figures.ts'
import type { Stored } from './forgotten.ts'
import { expectPostgresBack, expectRefusals } from './recovery.ts'
import { isShort } from './size.ts'
import { trial } from './trial.ts'
import type { World } from './world.ts'

/** What the standby is behind by when the primary dies. */
const lagMs = 5000

export function standbyFaults(find: () => World): void {
  // Fails when the promoted server goes on with the epoch of events of the primary.
  it.skipIf(isShort)(
    '31: Postgres dies, and an asynchronous standby that is behind replaces it',
    async () => {
      const world = find()
      const name = '31 standby promoted'
      const pair = await startPair(world)
      const followers = await openEventFollowers(world)
      const fault = async () => {
        await pair.standby.stopFollowing()
        await delay(lagMs)
        await pair.failOver()
      }
      try {
        const found = await trial(world, name, fault, { readFormer: pair.readFormer })
        await followers.expectAll(name)
        expect(found.load.sent.length - found.sent.length).toBeGreaterThan(0)
        note(name, await expectRowsAndEventsAgree(world))
        expectRefusals(found, 'unavailable')
        expectPostgresBack(world, found)
      } finally {
        await followers.close()
        await pair.close()
      }
    },
  )
}

type Pair = {
  standby: Standby
  /** The standby answers at the address of the primary, as behind a name or a proxy that follows the primary. */
  failOver(): Promise<void>
  /** What the dead primary had stored. */
  readFormer(sinceMs: number): Promise<Stored>
  /** The server of the system goes on with the files of the one that was the primary last. */
  close(): Promise<void>
}

async function startPair({ devnet, recover }: World): Promise<Pair> {
  const primary = realpathSync(join(devnet.dataFolder, 'postgres'))
  const copy = join(dirname(primary), 'standby')
  const logFile = join(devnet.dataFolder, 'standby.log')
  const { port } = new URL(devnet.databaseUrl)
  await devnet.stop('postgres')
  execFileSync('cp', ['-a', primary, copy])
  await devnet.start('postgres')
  const standby = await startStandby(devnet.databaseUrl, copy, logFile)
  await recover()
  let address: TcpProxy | undefined

  return {
    standby,
    async failOver() {
      devnet.signal('postgres', 'SIGKILL')
      await standby.promote()
      address = await until('the address of the primary is free', () =>
        startTcpProxy(standby.server.url, { port: Number(port) }).catch(() => undefined),
      )
    },
    async readFormer(sinceMs) {
      const server = await startPostgres({ folder: primary, logFile, durable: true })
      const records = openRecords(server.url)
      try {
        const messages = await records.listMessagesSince(sinceMs)
        return { messages, inbound: await records.listInboundSince(sinceMs) }
      } finally {
        await records.close()
        await server.stop()
      }
    },
    async close() {
      await address?.close()
      await standby.server.stop()
      if (address) {
        rmSync(join(primary, 'data'), { recursive: true })
        renameSync(join(copy, 'data'), join(primary, 'data'))
        // It was started elsewhere while the standby had its address.
        writeFileSync(join(primary, 'port'), port)
        await devnet.start('postgres')
      }
      rmSync(copy, { recursive: true })
    },
  }
}

/** Every message has the event of its status and none of a later one, and every event has its message. */
async function expectRowsAndEventsAgree({ devnet }: World): Promise<{ 'messages that agree': number }> {
  const db = openDatabase(devnet.databaseUrl, {
    poolSize: 1,
    applicationName: 'fault',
    statementTimeoutMs: 30_000,
  })
  try {
    const rows = await db.$client<{ id: string; status: string | null; types: number[]; agrees: boolean }[]>`
      SELECT coalesce(id, message_id) AS id, status, types, coalesce(CASE
        WHEN direction = 'in' THEN ${eventTypes['message.received']} = ANY (types)
        ELSE ${eventTypes['message.accepted']} = ANY (types) AND (types && ${ends}::int[]) = (status IN ('failed', 'canceled'))
          AND CASE status
            WHEN 'read' THEN ${eventTypes['message.read']} = ANY (types)
            WHEN 'delivered' THEN ${eventTypes['message.delivered']} = ANY (types)
              AND NOT ${eventTypes['message.read']} = ANY (types)
            WHEN 'sent' THEN ${eventTypes['message.sent']} = ANY (types) AND NOT types && ${receipts}::int[]
            WHEN 'failed' THEN ${eventTypes['message.failed']} = ANY (types)
            WHEN 'canceled' THEN ${eventTypes['message.canceled']} = ANY (types)
          END
        END, false) AS agrees
      FROM messages FULL JOIN (
        SELECT message_id, array_agg(type::int) AS types FROM events WHERE message_id IS NOT NULL GROUP BY message_id
      ) AS told ON message_id = id`
    expect(rows.filter(({ agrees }) => !agrees)).toEqual([])
    return { 'messages that agree': rows.length }
  } finally {
    await closeDatabase(db)
  }
}

const ends = [eventTypes['message.failed'], eventTypes['message.canceled']]
const receipts = [eventTypes['message.delivered'], eventTypes['message.read']]
