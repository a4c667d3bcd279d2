import { closeDatabase, openDatabase } from '@wagate/db/client'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import { type MessageRecord, makeGatewayClient } from '@wagate/test-kit/gateway-client'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

type PhoneState = { number: string; companions: { pending: number }[] }

const sender = '15550800001'

let devnet: Devnet
let gateway: ReturnType<typeof makeGatewayClient>

beforeAll(async () => {
  devnet = await startDevnet({
    shards: 16,
    workers: 1,
    environment: () => ({ SEND_RATE_PER_MINUTE: '0', LIMIT_REQUESTS_PER_SECOND: '0' }),
  })
  gateway = makeGatewayClient(devnet)
  await gateway.link(sender)
}, 60_000)

afterAll(async () => {
  await devnet?.close()
}, 30_000)

async function send(number: string): Promise<MessageRecord> {
  const sent = await gateway.call('send-message', { sender, number, message: 'hello' })
  return gateway.untilMessage(sent.body.message_id, 'is delivered', ({ status }) => status === 'delivered')
}

const claim = (number: string, { wa_message_id }: MessageRecord, type: 'read' | 'retry') =>
  gateway.control(`/chats/${number}/receipt`, { to: sender, wa_message_id, type })

const untilAcknowledged = () =>
  until('the receipts are acknowledged', async () => {
    const phones = await gateway.control<PhoneState[]>('/phones')
    return phones.find(({ number }) => number === sender)?.companions.every(({ pending }) => pending === 0)
  })

const duplicatesOn = async (number: string) => (await gateway.phone(number, sender))[0]?.duplicates

it('believes receipts of the recipient only, and sends nobody else the message again', async () => {
  const [recipient, stranger] = ['15550800011', '15550800012']
  const message = await send(recipient)
  await claim(stranger, message, 'read')
  await claim(stranger, message, 'retry')
  await untilAcknowledged()
  expect((await gateway.messageStatus(message.message_id)).status).toBe('delivered')
  expect(await gateway.phone(stranger)).toEqual([])
  await claim(recipient, message, 'read')
  await gateway.untilStatus(message.message_id, 'read')
})

it('believes the recipient of a message also when a crash of Postgres has undone its claim', async () => {
  const recipient = '15550800013'
  const message = await send(recipient)
  const database = openDatabase(devnet.databaseUrl, {
    poolSize: 1,
    applicationName: 'test',
    statementTimeoutMs: 4000,
  })
  await database.$client`UPDATE messages SET recipient_jid = NULL WHERE id = ${message.message_id}`
  await closeDatabase(database)
  await claim(recipient, message, 'read')
  await gateway.untilStatus(message.message_id, 'read')
})

it('sends a message five times again to a recipient who cannot read it, also after a restart', async () => {
  const recipient = '15550800021'
  const message = await send(recipient)
  await devnet.stop('worker-1')
  await devnet.start('worker-2')
  for (let count = 1; count <= 5; count++) {
    await untilAcknowledged()
    await claim(recipient, message, 'retry')
    await until(`it came ${count} times again`, async () => (await duplicatesOn(recipient)) === count)
  }
  await untilAcknowledged()
  await claim(recipient, message, 'retry')
  await untilAcknowledged()
  expect(await duplicatesOn(recipient)).toBe(5)
}, 90_000)

it('does not report a message as sent before WhatsApp named a device of its recipient', async () => {
  const recipient = '15550800031'
  await gateway.control('/faults', { kind: 'devices_omit', number: recipient, count: 3 })
  const message = await send(recipient)
  const [onPhone] = await gateway.phone(recipient, sender)
  expect(onPhone).toMatchObject({ wa_message_id: message.wa_message_id, duplicates: 0 })
})
