import { setTimeout as delay } from 'node:timers/promises'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { openEventFollowers } from './event-followers.ts'
import { moveToSmallDisk } from './postgres-disk.ts'
import { expectPostgresBack, expectRefusals } from './recovery.ts'
import { isShort } from './size.ts'
import { trial } from './trial.ts'
import type { World } from './world.ts'

const kills = isShort ? 5 : 50
/** Claims of media commit lazily, so a crash takes their transaction ids back. */
const burstMix = { media: 0.4, scheduled: 0, canceled: 0.04 }

export function postgresFaults(find: () => World): void {
  async function read(operation: string): Promise<number> {
    const { apiUrl, adminKey } = find().devnet
    const headers = { 'x-api-key': adminKey.apiKey ?? '' }
    return (await fetch(`${apiUrl}/${operation}`, { headers })).status
  }

  // Fails when messages are accepted before they are on the disk, and when another statement stores their keys.
  it('12: Postgres is killed and started again', async () => {
    const { devnet } = find()
    const found = await trial(find(), '12 Postgres killed', async () => {
      devnet.signal('postgres', 'SIGKILL')
      await delay(2000)
      await devnet.start('postgres')
    })
    expectRefusals(found, 'unavailable')
    expectPostgresBack(find(), found)
  })

  // An epoch that outlives a crash fails it rarely: a reader has to read within the milliseconds that the crash takes back.
  it('28: Postgres is killed again and again while programs follow the events', {
    timeout: 900_000,
  }, async () => {
    const world = find()
    const name = '28 Postgres killed again and again'
    const followers = await openEventFollowers(world)
    try {
      await trial(world, name, () => killAgainAndAgain(world), { mix: burstMix })
      await followers.expectAll(name)
    } finally {
      await followers.close()
    }
  })

  // Fails when requests have no deadline.
  it.skipIf(isShort)('13: Postgres does not answer for 15 s', async () => {
    const links = find().links('postgres')
    const found = await trial(find(), '13 Postgres frozen', async () => {
      for (const link of links) link.freeze()
      await delay(15_000)
      for (const link of links) link.heal()
    })
    expectRefusals(found, 'unavailable')
    expectPostgresBack(find(), found)
    // No sender may send, and none needs to log in again.
    expect([...(await find().loginsSince(found.faultAtMs)).keys()]).toEqual([])
  })

  // Fails when a full disk is taken for an outage.
  it.skipIf(isShort)('14: the disk of Postgres is full', async ({ skip }) => {
    const { devnet, recover } = find()
    const disk = await moveToSmallDisk(devnet.databaseUrl)
    if (typeof disk === 'string') return skip(disk)
    try {
      await recover()
      const found = await trial(find(), '14 disk full', async (load) => {
        disk.fill()
        await until('a send is refused', { withinMs: 15_000, everyMs: 50 }, () =>
          load.sent.some(({ attempts }) => attempts.some(({ status }) => status === 503)),
        )
        for (const operation of ['messages', 'devices', 'user-info']) expect(await read(operation)).toBe(200)
        await delay(10_000)
        disk.free()
      })
      expectRefusals(found, 'storage_full')
      expectPostgresBack(find(), found)
    } finally {
      disk.free()
      await recover()
      await disk.moveBack()
    }
  })
}

/** The whole server, or one of its processes, after which it starts all of them again. */
async function killAgainAndAgain({ devnet, random }: World): Promise<void> {
  for (let kill = 0; kill < kills; kill++) {
    const isServer = kill % 3 < 2
    const pid = isServer ? (devnet.pid('postgres') ?? 0) : await findCheckpointer(devnet.databaseUrl)
    const stopUsing = useIds(devnet.databaseUrl)
    await delay(500 + 1500 * random())
    process.kill(pid, 'SIGKILL')
    await stopUsing()
    await until('the process has ended', () => !isRunning(pid))
    if (isServer) await devnet.start('postgres')
  }
}

/** Each in a transaction, which commits without a flush because it has written nothing. */
const useThousands = `DO $$ BEGIN
  FOR n IN 1..2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP;
END $$`

/** As rolled-back transactions and lazy commits do: a crash takes the ids back that were used since the last durable commit. */
function useIds(databaseUrl: string): () => Promise<void> {
  const db = openDatabase(databaseUrl, { poolSize: 1, applicationName: 'fault', statementTimeoutMs: 5000 })
  let isUsing = true
  const using = (async () => {
    while (isUsing) await db.$client.unsafe(useThousands).catch(() => undefined)
  })()
  return async () => {
    isUsing = false
    await closeDatabase(db)
    await using
  }
}

async function findCheckpointer(databaseUrl: string): Promise<number> {
  const db = openDatabase(databaseUrl, { poolSize: 1, applicationName: 'fault', statementTimeoutMs: 5000 })
  try {
    return await until('Postgres answers', async () => {
      const [found] = await db.$client<{ pid: number }[]>`
        SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'`.catch(() => [])
      return found?.pid
    })
  } finally {
    await closeDatabase(db)
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
