import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeGatewayClient } from '@wagate/test-kit/gateway-client'
import { until } from '@wagate/test-kit/until'
import { afterAll, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '../src/devnet.ts'
import { summarize } from '../src/summary.ts'

const sender = '15550300001'
const recipient = '15550300002'
const dataFolder = mkdtempSync(join(tmpdir(), 'wagate-restart-'))
let devnet: Devnet | undefined
/** What the person at the terminal saw, start by start. */
const printed: string[] = []

afterAll(async () => {
  await devnet?.close()
  rmSync(dataFolder, { recursive: true, force: true })
})

async function send(gateway: ReturnType<typeof makeGatewayClient>, message: string) {
  const sent = await gateway.call('send-message', { sender, number: recipient, message })
  expect(sent).toMatchObject({ status: 200 })
  return gateway.untilMessage(sent.body.message_id, 'is delivered', ({ status }) => status === 'delivered')
}

it('keeps its devices linked and its history over a restart of everything', async () => {
  devnet = await startDevnet({ dataFolder, workers: 1, shards: 4 })
  printed.push(summarize(devnet, { isKeyAccepted: true, fromEnvFile: [] }))
  const before = makeGatewayClient(devnet)
  await before.link(sender)
  const first = await send(before, 'before the restart')
  await devnet.close()

  devnet = await startDevnet({ dataFolder, workers: 1, shards: 4 })
  printed.push(summarize(devnet, { isKeyAccepted: true, fromEnvFile: [] }))
  const after = makeGatewayClient(devnet)
  await until('the device is back', async () => (await after.statusOf(sender)).status === 'connected')
  const second = await send(after, 'after the restart')
  expect((await after.history()).map(({ message_id }) => message_id)).toEqual([
    second.message_id,
    first.message_id,
  ])
  expect((await after.phone(recipient, sender)).at(-1)).toMatchObject({ text: 'after the restart' })
  // Nobody's devices were asked for again, which would have made new sessions with all of them.
  expect(await after.control('/stats')).toMatchObject({ messages: 1, prekey_fetches: 0 })
}, 120_000)

it('prints the key of the first ADMIN once, and keeps it where only its owner can read it', async () => {
  const file = join(dataFolder, 'admin-key')
  const key = readFileSync(file, 'utf8').trim()
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(printed.map((text) => text.includes(key))).toEqual([true, false])
  const response = await fetch(`${devnet?.apiUrl}/user-info`, { headers: { 'x-api-key': key } })
  expect(await response.json()).toMatchObject({ ok: true, level: 'ADMIN' })
})

it('refuses another number of shards than the database was installed with, and says which to set', async () => {
  await devnet?.close()
  devnet = undefined
  await expect(startDevnet({ dataFolder, workers: 1, shards: 8 })).rejects.toThrow(/Set SHARDS to 4/)
}, 60_000)
