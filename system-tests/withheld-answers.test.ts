import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { eventTypes } from '@wagate/shared/event-types'
import { startAnswerWithholder } from '@wagate/test-kit/answer-withholder'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import type { TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

const sender = '15552067001'
const patientSender = '15552067002'
const contacts = ['4915201670001', '4915201670002', '4915201670003']

let system: TestSystem
let target: Server
const proxies: TcpProxy[] = []
/** The texts of the statements whose answer was withheld, each once. */
const withheld = new Set<string>()
let isOn = false

const writes = /\b(INSERT INTO|DELETE FROM|UPDATE [a-z_]+( AS [a-z_]+)? SET)\b/i

function isWithheld(statement: string): boolean {
  if (!isOn || !writes.test(statement) || withheld.has(statement)) return false
  withheld.add(statement)
  return true
}

beforeAll(async () => {
  system = await openTestSystem({
    ownServers: true,
    workers: 1,
    environment: { ALLOW_PRIVATE_WEBHOOK_HOSTS: 'true' },
    async proxyFor(_name, url) {
      if (!url.startsWith('postgres')) return url
      const proxy = await startAnswerWithholder(url, isWithheld)
      proxies.push(proxy)
      return proxy.url
    },
  })
  let requests = 0
  target = createServer((request, response) => {
    requests += 1
    request.resume().on('end', () => response.writeHead(requests % 5 === 0 ? 500 : 204).end())
  }).listen(0, '127.0.0.1')
  await once(target, 'listening')
}, 120_000)
afterAll(async () => {
  await system?.close()
  target?.close()
  for (const proxy of proxies) await proxy.close()
}, 30_000)

/** As a client does that was told to try again. */
async function repeated(operation: string, fields: Record<string, unknown>) {
  return until(`${operation} is answered`, async () => {
    const answer = await system.gateway.call(operation, fields)
    if (answer.status !== 200) expect(['unavailable', 'qr_timeout']).toContain(answer.body.code)
    return answer.status === 200 && answer
  })
}

async function send(number: string, message: string, from = sender): Promise<string> {
  const fields = { sender: from, number, message, idempotency_key: `${number} ${message}` }
  return String((await repeated('send-message', fields)).body.message_id)
}

/** The contact writes, edits and reacts, and has read the message that it got. */
async function answer(contact: string, message: string, text: string): Promise<void> {
  const { gateway } = system
  const { wa_message_id } = await gateway.untilStatus(message, 'delivered')
  const chat = (action: string, fields: Record<string, unknown>) =>
    gateway.control<{ wa_message_id: string }>(`/chats/${contact}/${action}`, fields)
  await chat('send', { to: sender, text })
  await chat('send', { to: sender, reaction: { wa_message_id, emoji: '👍' } })
  await chat('read', { wa_message_id })
  await gateway.untilStatus(message, 'read')
  await until('all is stored', async () => {
    const [row] = await system.database.$client`
      SELECT FROM messages WHERE body = ${text}
        AND EXISTS (SELECT FROM events WHERE type = 11 AND data ->> 'number' = ${contact})`
    return row !== undefined
  })
}

/** Files, requests to mark as read, opt-outs, and messages that are called off. */
async function useTheRest(contact: string): Promise<void> {
  const { gateway } = system
  const file = mediaSamples[0]?.bytes.toString('base64') ?? ''
  const image = {
    type: 'image',
    caption: 'x',
    url: `data:image/png;base64,${file}`,
    idempotency_key: 'image',
  }
  const sent = await repeated('send-media', { sender, number: contact, ...image })
  await gateway.untilStatus(String(sent.body.message_id), 'delivered')
  await gateway.control(`/chats/${contact}/send`, { to: sender, text: 'x', file, mime: 'image/png' })
  await until('the file is stored', async () => {
    const [row] = await system.database.$client`SELECT FROM received_media WHERE state = 'stored'`
    return row !== undefined
  })
  await repeated('mark-read', { sender, number: contact })
  await until('it is marked as read', async () => {
    const [row] = await system.database
      .$client`SELECT FROM events WHERE type = ${eventTypes['message.marked_read']}`
    return row !== undefined
  })
  await repeated('opt-out', { number: contact })
  await repeated('opt-in', { number: contact })
  const later = {
    sender,
    number: contact,
    message: 'later',
    send_at: new Date(Date.now() + 3_600_000).toISOString(),
  }
  const { body } = await repeated('send-message', { ...later, idempotency_key: 'later' })
  await repeated('cancel-message', { message_id: body.message_id })
}

/** What exists more often than it may. */
async function doubled(): Promise<readonly unknown[]> {
  return system.database.$client`
    SELECT 'event' AS what, type::text, message_id::text AS id, count(*) FROM events WHERE message_id IS NOT NULL
      AND data IS NULL GROUP BY 2, 3 HAVING count(*) > 1
    UNION ALL SELECT 'change', type::text, data ->> 'waId', count(*) FROM events WHERE data ? 'waId'
      GROUP BY 2, 3 HAVING count(*) > 1
    UNION ALL SELECT 'message', direction, wa_id, count(*) FROM messages GROUP BY 2, 3 HAVING count(*) > 1
    UNION ALL SELECT 'delivery', '', event_ids::text, count(*) FROM webhook_deliveries GROUP BY 3 HAVING count(*) > 1
    UNION ALL SELECT 'link', '', id::text, link_generation FROM devices WHERE link_generation > 1
    UNION ALL SELECT 'contacts', '', device_id::text, count(*) FROM new_contacts GROUP BY 3 HAVING count(*) > 3`
}

async function expectOnce(texts: string[]): Promise<void> {
  const { gateway, phones } = system
  expect(await doubled()).toEqual([])
  const history = await gateway.history()
  for (const text of texts) expect(history.filter(({ message }) => message === text)).toHaveLength(1)
  expect((await phones.log()).filter(({ duplicate }) => duplicate)).toEqual([])
}

it('every statement that writes may have no answer, and happens once', async () => {
  const { gateway } = system
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`
  isOn = true
  onTestFinished(() => {
    isOn = false
  })
  await repeated('set-webhook', { url, name: 'Shop' })
  const { body } = await repeated('generate-qr', { sender })
  await gateway.control('/scan', { qr: body.qr_text, number: sender })
  await until('it is connected', async () => (await gateway.statusOf(sender)).status === 'connected')
  const texts: string[] = []
  for (const contact of contacts) {
    const [sent, received] = [`to ${contact}`, `from ${contact}`]
    texts.push(sent, received)
    await answer(contact, await send(contact, sent), received)
  }
  await useTheRest(contacts[0] ?? '')
  isOn = false
  await expectOnce(texts)
  expect(withheld.size).toBeGreaterThan(30)
}, 120_000)

it('a commit that takes longer than the silence of the client happens once', async () => {
  const { gateway } = system
  const contact = '4915201670004'
  await gateway.link(patientSender)
  // The servers of tests do not wait for their disk, nor for a replica.
  await system.database.$client.unsafe(`
    ALTER ROLE CURRENT_USER SET synchronous_commit = on;
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'wagate-%'`)
  const sql = await system.database.$client.reserve()
  const setReplica = async (name: string) => {
    await sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await sql`SELECT pg_reload_conf()`
  }
  await sql`SET synchronous_commit = local`
  const { wa_message_id } = await gateway.untilStatus(
    await send(contact, 'before', patientSender),
    'delivered',
  )
  await setReplica('absent')
  await gateway.control(`/chats/${contact}/send`, { to: patientSender, text: 'meanwhile' })
  await gateway.control(`/chats/${contact}/send`, {
    to: patientSender,
    reaction: { wa_message_id, emoji: '👍' },
  })
  await gateway.control(`/chats/${contact}/read`, { wa_message_id })
  await delay(9000)
  await setReplica('')
  sql.release()
  await gateway.deliver(patientSender, contact, 'after')
  await until('the message that came meanwhile', async () =>
    (await gateway.history()).some(({ message }) => message === 'meanwhile'),
  )
  await expectOnce(['before', 'meanwhile', 'after'])
}, 60_000)
