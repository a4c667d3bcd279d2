import { execFileSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import type postgres from 'postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresTls, startTls } from './postgres-tls.ts'

const sender = '15552065001'
let system: TestSystem
let tls: PostgresTls | undefined
beforeAll(async () => {
  let starting: Promise<PostgresTls> | undefined
  system = await openTestSystem({
    ownServers: true,
    workers: 1,
    async proxyFor(_, url) {
      if (!url.startsWith('postgres')) return url
      starting ??= startTls(url)
      tls = await starting
      return tls.url
    },
  })
  await system.gateway.link(sender)
}, 90_000)
afterAll(async () => {
  await system?.close()
  tls?.remove()
}, 30_000)

type Fault = {
  begin(sql: postgres.ISql): Promise<unknown>
  end(sql: postgres.ISql): Promise<unknown>
  /** The API can still store what it is given. */
  sparesApi?: boolean
}

const reload = (sql: postgres.ISql) => sql`SELECT pg_reload_conf()`

function setDescriptors(max: number): void {
  execFileSync('prlimit', ['--pid', String(system.devnet.pid('worker-1')), `--nofile=${max}:`])
}
let partition: { name: string; bound: string } | undefined

/** While which all writes fail, with errors that say nothing about what is stored. */
const faults: Record<string, Fault> = {
  'is read-only': {
    async begin(sql) {
      await sql.unsafe(`ALTER SYSTEM SET default_transaction_read_only = on`)
      await reload(sql)
    },
    async end(sql) {
      await sql.unsafe(`ALTER SYSTEM RESET default_transaction_read_only`)
      await reload(sql)
    },
  },
  'lets nobody log in': {
    begin: (sql) => sql.unsafe(`ALTER ROLE CURRENT_USER NOLOGIN`),
    end: (sql) => sql.unsafe(`ALTER ROLE CURRENT_USER LOGIN`),
  },
  'wants another password': {
    begin: (sql) => sql.unsafe(`ALTER ROLE CURRENT_USER PASSWORD 'another'`),
    end: (sql) =>
      sql.unsafe(`ALTER ROLE CURRENT_USER PASSWORD '${new URL(system.devnet.databaseUrl).password}'`),
  },
  'shows an expired certificate': {
    async begin(sql) {
      tls?.setCertificate({ isExpired: true })
      await reload(sql)
      const refused = openDatabase(tls?.url ?? '', {
        poolSize: 1,
        applicationName: 'test',
        statementTimeoutMs: 2000,
      })
      await expect(refused.$client`SELECT`).rejects.toMatchObject({ code: 'CERT_HAS_EXPIRED' })
      await closeDatabase(refused)
    },
    async end(sql) {
      tls?.setCertificate({ isExpired: false })
      await reload(sql)
    },
  },
  'has no partition for events': {
    async begin(sql) {
      const [found] = await sql<{ name: string; bound: string }[]>`
        SELECT oid::regclass::text AS name, pg_get_expr(relpartbound, oid) AS bound FROM pg_class
        WHERE oid = (SELECT tableoid FROM events LIMIT 1)`
      partition = found
      await sql.unsafe(`ALTER TABLE events DETACH PARTITION ${found?.name}`)
    },
    end: (sql) => sql.unsafe(`ALTER TABLE events ATTACH PARTITION ${partition?.name} ${partition?.bound}`),
  },
  'cannot be reached, because the worker may open no files': {
    begin: async () => setDescriptors(3),
    end: async () => setDescriptors(1024),
    sparesApi: true,
  },
}
const faultMs = 3000

const names = Object.keys(faults).filter((name) => process.platform === 'linux' || !faults[name]?.sparesApi)

it.each(names)(
  'nothing that arrives while Postgres %s is lost, or stored twice',
  async (name) => {
    const { gateway, database } = system
    const { begin, end, sparesApi } = faults[name] as Fault
    const contact = `491520065000${Object.keys(faults).indexOf(name)}`
    const { message_id: id, wa_message_id } = await gateway.deliver(sender, contact)
    // One that stays, whoever may log in.
    const sql = await database.$client.reserve()
    await begin(sql)
    await sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND application_name LIKE 'wagate-%'`
    if (!sparesApi) {
      const refusal = await until('a message is refused', async () => {
        const answer = await gateway.call('send-message', { sender, number: contact, message: 'refused' })
        return answer.status !== 200 && answer
      })
      expect(refusal).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    }

    const texts = [1, 2, 3].map((index) => `${name} ${index}`)
    for (const text of texts) await gateway.control(`/chats/${contact}/send`, { to: sender, text })
    await gateway.control(`/chats/${contact}/read`, { wa_message_id })
    await delay(faultMs)
    const received = async () =>
      (await gateway.history()).map(({ message }) => message).filter((message) => message?.startsWith(name))
    const stored = await sql`SELECT body FROM messages WHERE starts_with(body, ${name})`
    expect(stored).toEqual([])
    await end(sql)
    sql.release()

    await gateway.untilStatus(id, 'read')
    await until('everything is stored', async () => (await received()).length >= texts.length)
    expect((await received()).toSorted()).toEqual(texts)
    await gateway.deliver(sender, contact)
  },
  60_000,
)
