import { setTimeout as delay } from 'node:timers/promises'
import { askRedis } from '@wagate/local-servers/ask-redis'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAllocations } from './allocations.ts'
import { type ExecutedStatements, logStatements } from './executed-statements.ts'

// What one message costs, as far as it does not depend on the machine. The limits are a tenth to a third above what is needed.

const sender = '15552010001'
const recipient = '15552010002'
const messages = 40
const idleMs = 5000
/** Of one job of the queue, until it is removed. A job serves all messages of about a second. */
const redisCommandsOfJob = 25

const allocations = openAllocations()
let system: TestSystem
let gateway: GatewayClient
let statements: ExecutedStatements
/** Of a second in which nothing is sent. `connections`: of the worker to Postgres, in all of that time. */
let idle: { statements: Set<string>; redisCommands: number; stanzas: number; connections: number }

beforeAll(async () => {
  system = await openTestSystem({
    ownServers: true,
    workers: 1,
    shards: 256,
    environment: allocations.environment,
  })
  gateway = system.gateway
  await gateway.link(sender)
  for (let count = 0; count < 5; count++) await send()
  statements = await logStatements(system)
  const before = { commands: await countRedisCommands(), stanzas: await countStanzas() }
  await delay(idleMs)
  idle = {
    statements: new Set(statements.take()),
    redisCommands: ((await countRedisCommands()) - before.commands) / (idleMs / 1000),
    stanzas: ((await countStanzas()) - before.stanzas) / (idleMs / 1000),
    connections: await countConnections(`state_change > now() - interval '${idleMs} ms'`),
  }
}, 90_000)
afterAll(async () => {
  await system?.close()
  allocations.close()
}, 30_000)

const fields = { sender, number: recipient, message: 'A text', wait: 10 }

async function send(): Promise<void> {
  const { body } = await gateway.call('send-message', fields)
  await gateway.untilMessage(body.message_id, 'is delivered', ({ status }) => status === 'delivered')
}

async function sendMessages(): Promise<void> {
  for (let count = 0; count < messages; count++) {
    const { body } = await gateway.call('send-message', fields)
    expect(['sent', 'delivered']).toContain(body.status)
  }
}

const countStanzas = async () => (await gateway.control<{ stanzas: number }>('/stats')).stanzas

async function readRedis(section: string, field: string): Promise<number> {
  const script = `return tonumber(string.match(redis.call('INFO', '${section}'), '${field}:(%d+)'))`
  const [answer] = await askRedis(new URL(system.devnet.redisUrl), [['EVAL', script, '0']])
  return Number(answer?.slice(1))
}

const countRedisCommands = () => readRedis('stats', 'total_commands_processed')
const countRedisConnections = () => readRedis('clients', 'connected_clients')

async function readNumber(query: string): Promise<number> {
  const [row] = await system.database.$client.unsafe<{ value: number }[]>(query)
  return row?.value ?? Number.NaN
}

const readWalBytes = () =>
  readNumber(`SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS value`)

const countConnections = (condition: string) =>
  readNumber(
    `SELECT count(*)::int AS value FROM pg_stat_activity WHERE application_name LIKE 'wagate-worker%' AND ${condition}`,
  )

test('a text to a known contact needs few statements, stanzas, commands of Redis and bytes in the log of Postgres', async () => {
  statements.take()
  const before = {
    ms: performance.now(),
    wal: await readWalBytes(),
    commands: await countRedisCommands(),
    stanzas: await countStanzas(),
  }
  await sendMessages()
  const seconds = (performance.now() - before.ms) / 1000
  const besides = idle.redisCommands * seconds + redisCommandsOfJob * (seconds + 1)
  const commands = (await countRedisCommands()) - before.commands - besides
  const wal = (await readWalBytes()) - before.wal
  const stanzas = (await countStanzas()) - before.stanzas - idle.stanzas * seconds
  const executed = statements.take().filter((statement) => !idle.statements.has(statement))
  // On a busy machine, an acknowledgement and its receipt are more often two statements than one.
  expect(executed.length / messages).toBeLessThan(5)
  expect(commands / messages).toBeLessThan(14)
  expect(wal / messages).toBeLessThan(3200)
  // The message, and the acknowledgement of its receipt.
  expect(stanzas / messages).toBeLessThan(2.4)
})

// Measured: 637,000 to 655,000 in the worker on Node 20, 658,000 to 720,000 on Node 24, and 205,000 to 230,000 in the API.
const [nodeMajor = 0] = process.versions.node.split('.').map(Number)
const bytesPerMessage = { worker: nodeMajor < 24 ? 690_000 : 755_000, api: 240_000 }

test('a text to a known contact allocates little in the worker and in the API', async () => {
  const names = ['worker-1', 'api']
  const [worker = Number.NaN, api = Number.NaN] = await allocations.measure(system, names, sendMessages)
  expect(worker / messages).toBeLessThan(bytesPerMessage.worker)
  expect(api / messages).toBeLessThan(bytesPerMessage.api)
})

test('a sender has few rows, and an idle worker few connections', async () => {
  const rows = await readNumber('SELECT count(*)::int AS value FROM device_auth')
  const toPostgres = await countConnections('true')
  const connected = await countRedisConnections()
  await system.devnet.stop('worker-1')
  const toRedis = connected - (await countRedisConnections())
  // 812 of them are the keys of a first login.
  expect(rows).toBeLessThan(900)
  // How many the login has opened depends on how many of its statements met. Those that are not used are closed later.
  expect(toPostgres).toBeLessThanOrEqual(16)
  expect(idle.connections).toBeLessThanOrEqual(6)
  expect(toRedis).toBeLessThanOrEqual(4)
  expect(idle.redisCommands).toBeLessThan(15)
})
