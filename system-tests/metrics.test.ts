import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import type { Devnet } from '@wagate/devnet/devnet'
import { freePort } from '@wagate/local-servers/free-port'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15550950001'
const recipient = '15550950002'
const text = 'what the metrics must not say'
let system: TestSystem
let devnet: Devnet
let gateway: GatewayClient
let ports: Record<string, number>

beforeAll(async () => {
  ports = { api: await freePort(), 'worker-1': await freePort() }
  system = await openTestSystem({
    workers: 1,
    environment: (name) => (ports[name] ? { METRICS_PORT: String(ports[name]) } : {}),
  })
  devnet = system.devnet
  // Its key is one of the secrets that the tests look for.
  gateway = system.admin
}, 60_000)
afterAll(() => system?.close(), 30_000)

async function metricsOf(name: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${ports[name]}/metrics`)
  expect(response.headers.get('content-type')).toContain('text/plain')
  return response.text()
}

it('counts requests, sends, receipts and logins, without numbers, texts and keys', async () => {
  await gateway.link(sender)
  const sent = await gateway.call('send-message', { sender, number: recipient, message: text })
  await gateway.untilMessage(sent.body.message_id, 'is delivered', ({ status }) => status === 'delivered')
  await gateway.call('send-message', { sender: '15550950009', number: recipient, message: text })
  await gateway.get('no-such-path')

  const api = await metricsOf('api')
  expect(api).toMatch(/^wagate_requests_total\{operation="send-message",status="200"\} 1$/m)
  expect(api).toMatch(/^wagate_requests_total\{operation="send-message",status="404"\} 1$/m)
  expect(api).toMatch(/^wagate_requests_total\{operation="none",status="404"\} 1$/m)
  expect(api).toMatch(/^wagate_request_seconds_count\{operation="send-message"\} 2$/m)

  expect(api).toMatch(/^wagate_ready 1$/m)
  expect(api).toMatch(/^wagate_redis_available 1$/m)
  expect(api).toMatch(/^wagate_orphaned_shards 0$/m)

  // A worker counts what it has stored.
  await expect.poll(() => metricsOf('worker-1')).toMatch(/^wagate_receipts_total\{kind="delivered"\} 1$/m)
  const worker = await metricsOf('worker-1')
  expect(worker).toMatch(/^wagate_sends_total\{result="acknowledged"\} 1$/m)
  expect(worker).toMatch(/^wagate_logins_total \d+$/m)
  expect(worker).toMatch(/^wagate_online_devices 1$/m)
  expect(worker).toMatch(/^wagate_owned_shards 4$/m)
  for (const secret of [sender, recipient, text, devnet.adminKey.apiKey ?? '-']) {
    expect(api + worker).not.toContain(secret)
  }
}, 60_000)

it('shows how many callers follow their events', async () => {
  const stop = new AbortController()
  const options = { headers: { 'x-api-key': devnet.adminKey.apiKey ?? '' }, signal: stop.signal }
  await fetch(`${devnet.apiUrl}/events/stream`, options)
  const waits = fetch(`${devnet.apiUrl}/events?after=latest&wait=25`, options).catch(() => undefined)
  const gauges = async () => (await metricsOf('api')).match(/^wagate_event_(streams|waits) \d+$/gm)
  await expect.poll(gauges).toEqual(['wagate_event_streams 1', 'wagate_event_waits 1'])
  stop.abort()
  await waits
  await expect.poll(gauges).toEqual(['wagate_event_streams 0', 'wagate_event_waits 0'])
}, 30_000)

it('docs/operations.md explains every metric, and no other', async () => {
  const served = (await Promise.all(['api', 'worker-1'].map(metricsOf))).join('\n')
  const page = readFileSync(join(repository, 'docs/operations.md'), 'utf8')
  const [, section = ''] = /^## Metrics$(.*?)^## /ms.exec(page) ?? []
  const names = (text: string, pattern: RegExp) =>
    [...new Set([...text.matchAll(pattern)].map(([, name]) => name))].sort()
  expect(names(section, /^\| `(wagate_\w+)`/gm)).toEqual(names(served, /^# TYPE (wagate_\w+) /gm))
})

it('without workers the API accepts, and its metrics and readiness say that messages wait', async () => {
  await devnet.stop('worker-1')
  const ready = await fetch(`${devnet.apiUrl}/health/ready`)
  expect(ready.status).toBe(200)
  expect(await ready.json()).toMatchObject({
    status: 'degraded',
    degraded: [expect.stringContaining('4 shards have no live worker')],
  })
  const api = await metricsOf('api')
  expect(api).toMatch(/^wagate_ready 1$/m)
  expect(api).toMatch(/^wagate_orphaned_shards 4$/m)
  const sent = await gateway.call('send-message', { sender, number: recipient, message: text })
  expect(sent.body).toMatchObject({ ok: true, status: 'queued' })
  expect(await metricsOf('api')).toMatch(/^wagate_unowned_waiting_messages 1$/m)
  await devnet.start('worker-1')
  await gateway.untilMessage(sent.body.message_id, 'is delivered', ({ status }) => status === 'delivered')
}, 60_000)
