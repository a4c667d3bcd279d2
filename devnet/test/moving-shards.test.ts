import { closeDatabase, openDatabase } from '@wagate/db/client'
import { listLiveWorkers } from '@wagate/db/queries/workers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '../src/devnet.ts'
import { makeGatewayClient, until } from './gateway-client.ts'

const senders = Array.from({ length: 6 }, (_, index) => `1555080000${index}`)

let devnet: Devnet
let gateway: ReturnType<typeof makeGatewayClient>

beforeAll(async () => {
  devnet = await startDevnet({ workers: 1 })
  gateway = makeGatewayClient(devnet)
}, 60_000)

afterAll(() => devnet?.close(), 30_000)

async function untilShared(workers: number): Promise<void> {
  const database = openDatabase(devnet.databaseUrl, {
    poolSize: 1,
    applicationName: 'test',
    statementTimeoutMs: 4000,
  })
  await until(`${workers} workers share the shards`, async () => {
    const live = await listLiveWorkers(database)
    return live.length === workers && live.every(({ owned }) => owned >= Math.floor(256 / workers))
  })
  await closeDatabase(database)
}

it('keeps a QR code good while workers join and shards move to them', async () => {
  const codes = await Promise.all(senders.map((sender) => gateway.call('generate-qr', { sender })))
  await devnet.start('worker-2')
  await devnet.start('worker-3')
  await untilShared(3)
  for (const [index, number] of senders.entries()) {
    const scanned = await gateway.control<{ ok: boolean }>('/scan', {
      qr: codes[index]?.body.qr_text,
      number,
    })
    expect(scanned).toMatchObject({ ok: true })
  }
  await until('all are connected', async () => {
    const devices = (await gateway.get('devices')).body.devices as { status: string }[]
    return devices.every(({ status }) => status === 'connected')
  })
}, 60_000)
