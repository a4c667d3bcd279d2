import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { timeAwake } from '@wagate/test-kit/awake-time'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Certificates, makeCertificates } from './certificates.ts'

const sender = '15550320001'
const number = '15550320002'

type Received = { headers: IncomingHttpHeaders; body: string }

let system: TestSystem
let gateway: GatewayClient
let target: Server
let received: Received[] = []
/** Undefined without openssl. */
const certificates = makeCertificates()

beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    environment: { ALLOW_PRIVATE_WEBHOOK_HOSTS: 'true', NODE_EXTRA_CA_CERTS: certificates?.authorityFile },
  })
  gateway = system.gateway
  await gateway.link(sender)
  target = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(target, 'listening')
}, 60_000)

afterAll(async () => {
  target?.close()
  await system?.close()
  certificates?.remove()
}, 30_000)

/** As a receiver would verify it: https://www.standardwebhooks.com. */
function isSignedBy(secret: string, { headers, body }: Received): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  return String(headers['webhook-signature']).split(' ').includes(signature)
}

const typesOf = (requests: Received[]) => requests.map(({ body }) => JSON.parse(body).type)

test('a webhook gets the events of a message in order, signed, and again on request', async () => {
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/hook`
  const { body: webhook } = await gateway.call('set-webhook', { url, name: 'Shop' })
  const secret = String(webhook.secret)
  expect(webhook).toMatchObject({ ok: true, state: 'active', url, types: null })

  const { body: sent } = await gateway.call('send-message', { sender, number, message: 'Hello' })
  await gateway.untilMessage(sent.message_id, 'is delivered', ({ status }) => status === 'delivered')
  const lifecycle = ['message.accepted', 'message.sent', 'message.delivered']
  await expect
    .poll(() => typesOf(received).filter((type) => lifecycle.includes(type)), { timeout: 20_000 })
    .toEqual(lifecycle)
  for (const request of received) expect(isSignedBy(secret, request)).toBe(true)

  const { webhook_id } = webhook
  const { body: rotated } = await gateway.call('rotate-webhook-secret', { webhook_id })
  received = []
  const { body: tested } = await gateway.call('test-webhook', { webhook_id })
  expect(tested).toMatchObject({ ok: true, result: 'delivered', status: 204, error: null })
  const [request] = received.filter(({ headers }) => headers['webhook-id'] === tested.event_id)
  if (!request) throw new Error('The test event has not arrived')
  expect(typesOf([request])).toEqual(['webhook.test'])
  expect(isSignedBy(secret, request)).toBe(true)
  expect(isSignedBy(String(rotated.secret), request)).toBe(true)

  // Polls alone would take a second for each test.
  const { awakeMs } = await timeAwake(async () => {
    for (let tests = 0; tests < 5; tests += 1) await gateway.call('test-webhook', { webhook_id })
  })
  expect(awakeMs).toBeLessThan(3500)

  const at = expect.stringMatching(/Z$/)
  await expect
    .poll(async () => (await gateway.get('webhooks')).body.webhooks, { timeout: 20_000 })
    .toMatchObject([{ webhook_id, lag_seconds: null, last_success_at: at, last_failure_at: null }])

  const { body: log } = await gateway.get(`webhook-deliveries?webhook_id=${webhook_id}`)
  expect(log.deliveries).toContainEqual(
    expect.objectContaining({ delivery_id: tested.event_id, status: 204, attempt: 1 }),
  )

  received = []
  const from = new Date(Date.now() - 3_600_000).toISOString()
  const { body: replay } = await gateway.call('replay-webhook', { webhook_id, from })
  await expect.poll(() => received.length, { timeout: 20_000 }).toBe(replay.replayed)
  expect(typesOf(received)).toEqual(expect.arrayContaining(lifecycle))

  await gateway.call('delete-webhook', { webhook_id })
  expect((await gateway.get('webhooks')).body.webhooks).toEqual([])
}, 90_000)

const title = certificates ? '' : ', without openssl'

test.skipIf(!certificates)(
  `a target with TLS needs a certificate of an authority and of its name${title}`,
  async () => {
    const results = []
    for (const kind of ['good', 'selfSigned', 'ofOtherName'] as const) {
      const url = await startTlsTarget(certificates?.[kind])
      const { body } = await gateway.call('set-webhook', { url })
      const { webhook_id } = body
      const { body: tested } = await gateway.call('test-webhook', { webhook_id })
      const { body: log } = await gateway.get(`webhook-deliveries?webhook_id=${webhook_id}&limit=1`)
      expect(log.deliveries).toMatchObject([{ status: tested.status, error: tested.error }])
      results.push([kind, tested.status, tested.error])
      await gateway.call('delete-webhook', { webhook_id })
    }
    expect(results).toEqual([
      ['good', 204, null],
      ['selfSigned', null, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
      ['ofOtherName', null, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ])
  },
  60_000,
)

async function startTlsTarget(certificate: Certificates['good'] | undefined): Promise<string> {
  const server = https.createServer(certificate ?? {}, (request, response) => {
    request.resume()
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://localhost:${(server.address() as AddressInfo).port}/hook`
}
