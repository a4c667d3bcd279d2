import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bundledApps } from '@wagate/test-kit/servers/test-bundle'
import { testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { until } from '@wagate/test-kit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { masterKeys, openWebhookDatabase, type WebhookDatabase } from './webhook-database.ts'
import { openWebhookTarget, type WebhookTarget } from './webhook-target.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
/** A process from source takes seconds to start, more beside other tests. */
const options = { timeout: 120_000 }
const waiting = { withinMs: 60_000, everyMs: 50 }
const children: ChildProcess[] = []
let database: WebhookDatabase
let target: WebhookTarget
let redisUrl: string

beforeEach(async () => {
  database = await openWebhookDatabase()
  target = await openWebhookTarget()
  redisUrl = await testRedisUrl()
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  target.close()
  await database.drop()
})

const program = join(await bundledApps(), 'apps/worker/dist/cli.js')

/** Returns the process and the port of its metrics. */
async function startProcess(): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [program, 'dispatcher'], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      REDIS_URL: redisUrl,
      MASTER_KEY: masterKeys.current.bytes.toString('base64'),
      WHATSAPP_NETWORK: 'simulator',
      ALLOW_PRIVATE_WEBHOOK_HOSTS: 'true',
    },
  })
  children.push(child)
  for await (const text of createInterface(child.stdout)) {
    const { healthPort }: { healthPort?: number } = JSON.parse(text)
    if (healthPort === undefined) continue
    child.stdout.resume()
    return { child, port: healthPort }
  }
  throw new Error('The dispatcher ended before')
}

async function addEvents(accountId: number, count: number): Promise<string[]> {
  const eventIds: string[] = []
  for (let done = 0; done < count; done++)
    eventIds.push(await database.addEvent(accountId, { messageId: randomUUID() }))
  return eventIds
}

const untilReceived = (eventIds: string[]) =>
  until('the events to be delivered', waiting, () => eventIds.every((id) => target.eventIds().includes(id)))

test(
  'another dispatcher delivers what a killed one had in flight, and a signal ends it with 0',
  options,
  async () => {
    const accountId = await database.addAccount()
    await database.addWebhook(accountId, { url: target.url })
    const first = await startProcess()
    await untilReceived(await addEvents(accountId, 1))
    target.answer = () => undefined
    const eventIds = await database.sql.begin(async (sql) => {
      // No later event can be read while this transaction runs, so the dispatcher finds all of them together.
      await sql`SELECT pg_current_xact_id()`
      return addEvents(accountId, 6)
    })
    await until('requests in flight', waiting, () => target.requests.length === 5)
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    target.answer = (_, response) => response.end()

    const second = await startProcess()
    await untilReceived(eventIds)
    const readMetrics = async () => (await fetch(`http://127.0.0.1:${second.port}/metrics`)).text()
    // An answer is counted after the target has given it.
    await expect.poll(readMetrics).toMatch(/^wagate_webhook_requests_total\{result="taken"\} 6$/m)
    const metrics = await readMetrics()
    expect(metrics).toMatch(/^wagate_webhooks_owned 1$/m)
    expect(metrics).not.toContain('127.0.0.1')
    second.child.kill('SIGTERM')
    expect(await once(second.child, 'exit')).toEqual([0, null])
    const [left] =
      await database.sql`SELECT count(*)::int AS count FROM webhook_dispatchers WHERE lease_until > now()`
    expect(left).toEqual({ count: 0 })
  },
)
