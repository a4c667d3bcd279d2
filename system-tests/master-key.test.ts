import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { bundledApps } from '@wagate/test-kit/servers/test-bundle'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'

const sender = '15550400001'
const recipient = '15550400002'
const makeKey = () => randomBytes(32).toString('base64')
const [first, second] = [makeKey(), makeKey()]

/** What the next start of the worker is given. */
let masterKeys = { MASTER_KEY: first, MASTER_KEYS_OTHER: second }
let system: TestSystem
let gateway: GatewayClient
const sent: string[] = []

beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    environment: (name) => (name === 'worker-1' ? masterKeys : {}),
  })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

async function restartWith(keys: typeof masterKeys): Promise<void> {
  masterKeys = keys
  await system.devnet.stop('worker-1')
  await system.devnet.start('worker-1')
  await until('the sender is online', async () => {
    const { connections } = await gateway.control<{ connections: object }>('/stats')
    return Object.keys(connections).length === 1
  })
}

/** The command of operators, as a process, compiled as in the image. */
async function rotate(keys: typeof masterKeys): Promise<{ code: number; output: string }> {
  const env = { PATH: process.env.PATH, DATABASE_URL: system.devnet.databaseUrl, ...keys }
  const args = [join(await bundledApps(), 'apps/worker/dist/cli.js'), 'keys', 'rotate']
  return promisify(execFile)(process.execPath, args, { env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code: Number(code), output: stdout + stderr }),
  )
}

/** There and back: both directions turn ratchets, whose state is stored. */
async function converse(): Promise<void> {
  const text = `message ${sent.length}`
  const { body } = await gateway.call('send-message', { sender, number: recipient, message: text })
  sent.push(text)
  await gateway.untilMessage(body.message_id, 'is delivered', ({ status }) => status === 'delivered')
  await gateway.control(`/chats/${recipient}/send`, { to: sender, text: `answer to ${text}` })
  await until('the answer is here', async () =>
    (await gateway.history()).some(({ message }) => message === `answer to ${text}`),
  )
}

test('a master key is replaced while the worker sends and receives, and is not needed afterwards', async () => {
  const early = await rotate({ MASTER_KEY: second, MASTER_KEYS_OTHER: first })
  expect(early.code).toBe(1)
  expect(early.output).toMatch(/The worker worker-1 still encrypts with [0-9a-f]{8}: start it again/)
  await converse()

  await restartWith({ MASTER_KEY: second, MASTER_KEYS_OTHER: first })
  let isRotated = false
  const conversation = (async () => {
    while (!isRotated) await converse()
  })()
  const done = await rotate(masterKeys)
  isRotated = true
  await conversation
  expect(done.output).toContain('The other keys are no longer needed.')
  expect(done.code).toBe(0)
  for (const key of [first, second]) expect(early.output + done.output).not.toContain(key)

  await restartWith({ MASTER_KEY: second, MASTER_KEYS_OTHER: '' })
  await converse()
  const onPhone = await gateway.phone(recipient, sender)
  expect(onPhone.map(({ text }) => text)).toEqual(sent)
  expect(onPhone.every(({ duplicates }) => duplicates === 0)).toBe(true)
}, 60_000)

test('without the key a worker does not start, and says which one it needs', async () => {
  await system.devnet.stop('worker-1')
  masterKeys = { MASTER_KEY: first, MASTER_KEYS_OTHER: '' }
  await system.devnet.start('worker-1')
  await until('the worker has ended', async () => !system.devnet.names().includes('worker-1'))
  const log = system.logs().get('worker-1')
  expect(log).toMatch(/encrypted with the master key [0-9a-f]{8}\. MASTER_KEY is [0-9a-f]{8}/)
  for (const key of [first, second]) expect(log).not.toContain(key)
})
