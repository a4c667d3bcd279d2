import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15550720001'

let system: TestSystem
let gateway: GatewayClient
let proxy: TcpProxy | undefined
/** Connections that the worker has asked WhatsApp for. */
let dials = 0

beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    async proxyFor(_name, url) {
      if (!url.startsWith('ws')) return url
      proxy = await startTcpProxy(url, {
        onData: (chunk) => chunk.subarray(0, 4).toString() === 'GET ' && dials++,
      })
      return proxy.url
    },
  })
  gateway = system.gateway
}, 60_000)

afterAll(async () => {
  await system?.close()
  await proxy?.close()
}, 30_000)

it('a companion that scanned a code which was called off leaves the phone, although the next code is shown already', async () => {
  const { body } = await gateway.call('generate-qr', { sender })
  const id = Number((await gateway.statusOf(sender)).device_id)

  const credentials = await open(
    `INSERT INTO device_auth (device_id, type, id, value) VALUES (${id}, 'creds', '-', '')`,
  )
  const callOff = await open(`UPDATE devices SET desired_rev = desired_rev + 1 WHERE id = ${id}`)
  // It would end with the login of this link, which is to be undone.
  void system.phones.scan(String(body.qr_text), sender).catch(() => undefined)
  await until('the link waits to be stored', async () => (await countBlocked()) === 1)
  // The code is called off before the link is stored, and the worker learns of it.
  await callOff.end('COMMIT')
  await until('the worker asks for the next code', async () => dials === 2)
  await credentials.end('ROLLBACK')

  await until('the companion has left', async () => (await gateway.companionsOf(sender)).length === 0)
  const next = await until('a code is shown', async () => {
    const { qr_text } = (await gateway.call('generate-qr', { sender })).body
    return qr_text !== body.qr_text && qr_text
  })
  await system.phones.scan(String(next), sender)
  await until('it is connected', async () => (await gateway.statusOf(sender)).status === 'connected')
  expect(await gateway.companionsOf(sender)).toHaveLength(1)
}, 60_000)

/** Statements of the worker that wait for a lock of a row. */
async function countBlocked(): Promise<number> {
  const rows = await system.database.$client`
    SELECT FROM pg_stat_activity WHERE application_name LIKE 'wagate-worker%' AND wait_event_type = 'Lock'
      AND datname = current_database()`
  return rows.length
}

/** Begins a transaction with this statement, and leaves it open until `end`. */
async function open(statement: string): Promise<{ end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> }> {
  const holder = await system.database.$client.reserve()
  await holder.unsafe('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0')
  await holder.unsafe(statement)
  // A silent connection is closed, which would end the transaction.
  const talking = setInterval(() => void holder`SELECT 1`.catch(() => undefined), 1000)
  return {
    async end(how) {
      clearInterval(talking)
      await holder.unsafe(how)
      holder.release()
    },
  }
}
