import { setTimeout as delay } from 'node:timers/promises'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15552065001'
let system: TestSystem
beforeAll(async () => {
  system = await openTestSystem({ ownServers: true, workers: 1 })
  await system.gateway.link(sender)
}, 90_000)
afterAll(() => system?.close(), 30_000)

/** For which Postgres answers, while it lasts, with errors that say nothing about what is stored. */
const faults = {
  'is read-only': {
    begin: `ALTER SYSTEM SET default_transaction_read_only = on`,
    end: `ALTER SYSTEM RESET default_transaction_read_only`,
  },
  'lets nobody log in': { begin: `ALTER ROLE CURRENT_USER NOLOGIN`, end: `ALTER ROLE CURRENT_USER LOGIN` },
} as const
const faultMs = 3000

it.each(Object.keys(faults) as (keyof typeof faults)[])(
  'nothing that arrives while Postgres %s is lost, or stored twice',
  async (name) => {
    const { gateway, database } = system
    const contact = name === 'is read-only' ? '4915200650001' : '4915200650002'
    const { message_id: id, wa_message_id } = await gateway.deliver(sender, contact)
    // One that stays, whoever may log in.
    const sql = await database.$client.reserve()
    const apply = async (statement: string) => {
      await sql.unsafe(statement)
      await sql`SELECT pg_reload_conf()`
    }
    await apply(faults[name].begin)
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND application_name LIKE 'wagate-%'`
    const refusal = await until('a message is refused', async () => {
      const answer = await gateway.call('send-message', { sender, number: contact, message: 'refused' })
      return answer.status !== 200 && answer
    })
    expect(refusal).toMatchObject({ status: 503, body: { code: 'unavailable' } })

    const texts = [1, 2, 3].map((index) => `${name} ${index}`)
    for (const text of texts) await gateway.control(`/chats/${contact}/send`, { to: sender, text })
    await gateway.control(`/chats/${contact}/read`, { wa_message_id })
    await delay(faultMs)
    await apply(faults[name].end)
    sql.release()

    await gateway.untilStatus(id, 'read')
    const received = async () =>
      (await gateway.history()).map(({ message }) => message).filter((message) => message?.startsWith(name))
    await until('everything is stored', async () => (await received()).length >= texts.length)
    expect((await received()).toSorted()).toEqual(texts)
    await gateway.deliver(sender, contact)
  },
  60_000,
)
