import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import { makeGatewayClient } from '@wagate/test-kit/gateway-client'
import { bundledApps } from '@wagate/test-kit/servers/test-bundle'
import { createTestDatabase, testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { temporaryFolder } from '@wagate/test-kit/temporary-folder'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'

const sender = '15550970001'
const recipient = '15550970002'

test('a start on the other network is refused and ends no link', async () => {
  const database = await createTestDatabase({ shards: 4 })
  onTestFinished(database.drop)
  const kept = {
    dataFolder: temporaryFolder(),
    databaseUrl: database.url,
    redisUrl: await testRedisUrl(),
    compiledIn: await bundledApps(),
  }
  const start = (network: 'simulator' | 'live') => startDevnet({ ...kept, network, shards: 4, workers: 1 })
  await withDevnet(await start('simulator'), async (devnet) => {
    await makeGatewayClient(devnet).link(sender)
  })

  await expect(start('live')).rejects.toThrow(/linked on the simulated network.*npm start.*--data/s)

  // As an earlier version left it: the memory of the simulator tells that the link is its own.
  await withDevnet(await start('simulator'), async (devnet) => {
    await change(devnet, 'UPDATE installation SET network = NULL')
  })
  await withDevnet(await start('simulator'), async (devnet) => {
    const gateway = makeGatewayClient(devnet)
    const { body } = await gateway.call('send-message', {
      sender,
      number: recipient,
      message: 'still linked',
    })
    await gateway.untilMessage(body.message_id, 'is delivered', ({ status }) => status === 'delivered')
    await change(devnet, 'UPDATE installation SET network = NULL')
    await change(devnet, "UPDATE devices SET wa_jid = '15550970009:1@s.whatsapp.net'")
  })

  // The simulator does not know this link, so it is taken for a real one.
  await expect(start('simulator')).rejects.toThrow(
    /linked on the real WhatsApp network.*npm start -- --live/s,
  )
}, 180_000)

async function withDevnet(devnet: Devnet, work: (devnet: Devnet) => Promise<void>): Promise<void> {
  try {
    await work(devnet)
  } finally {
    await devnet.close()
  }
}

async function change({ databaseUrl }: Devnet, statement: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1 })
  await sql.unsafe(statement)
  await sql.end()
}
