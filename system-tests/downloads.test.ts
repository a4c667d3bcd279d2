import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15552003001'
const recorder = fileURLToPath(new URL('record-connections.mjs', import.meta.url))

let system: TestSystem
let gateway: GatewayClient
let stranger: Server
let strangerPort: number
let reached = 0
let connectionsFile: string

beforeAll(async () => {
  connectionsFile = join(mkdtempSync(join(tmpdir(), 'wagate connections ')), 'connections')
  stranger = createServer(() => {
    reached += 1
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => stranger.once('listening', resolve))
  const address = stranger.address()
  strangerPort = typeof address === 'object' && address ? address.port : 0
  system = await openTestSystem({
    shards: 16,
    workers: 1,
    environment: (name) =>
      name.startsWith('worker')
        ? { NODE_OPTIONS: `--import=${recorder}`, CONNECTIONS_FILE: connectionsFile }
        : {},
  })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(async () => {
  stranger?.close()
  await system?.close()
  if (connectionsFile) rmSync(dirname(connectionsFile), { recursive: true, force: true })
}, 30_000)

/** Baileys is done with a message when a later one is stored. */
async function untilProcessed(): Promise<void> {
  const text = `after ${performance.now()}`
  await gateway.control('/chats/15552003002/send', { to: sender, text })
  await until('a later message is stored', async () =>
    (await gateway.history()).some(({ message }) => message === text),
  )
}

it('opens connections to nothing but its servers and WhatsApp, for every kind of offered history', async () => {
  const paths = [`:${strangerPort}/x`, '.evil.example/x', `@127.0.0.1:${strangerPort}/x`]
  for (const from of ['companion', 'phone']) {
    for (const direct_path of paths) await gateway.control(`/chats/${sender}/history`, { from, direct_path })
    await gateway.control(`/chats/${sender}/history`, { from, inline_zeros: 2 ** 28 })
  }
  await gateway.control(`/chats/${sender}/history`, { from: 'companion', direct_path: '/from-a-companion' })
  await untilProcessed()
  expect(reached).toBe(0)
  const allowed = [
    system.devnet.databaseUrl,
    system.devnet.redisUrl,
    system.devnet.simulator?.socketUrl ?? '',
  ].map((url) => new URL(url).port)
  const lines = [...new Set(readFileSync(connectionsFile, 'utf8').trim().split('\n'))]
  const foreign = lines.filter((line) => {
    const [, host, port] = /^connect (127\.0\.0\.1|localhost):(\d+)$/.exec(line) ?? []
    const isOwn = host !== undefined && allowed.includes(port ?? '')
    return !isOwn && !/^lookup (127\.0\.0\.1|localhost)$/.test(line)
  })
  expect(foreign).toEqual([])
  expect(lines.length).toBeGreaterThan(2)
})
