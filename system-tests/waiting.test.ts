import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const sender = '15552094501'
/** Long enough that the host is asked again, and that texts behind the file wait. */
const mediaRetryMs = 8000

let system: TestSystem
let gateway: GatewayClient
let host: Server
let asked = 0

beforeAll(async () => {
  system = await openTestSystem({ workers: 1, environment: { MEDIA_RETRY_MS: String(mediaRetryMs) } })
  gateway = system.gateway
  host = createServer((request, response) => {
    asked += 1
    if (request.url === '/silent') return
    response.writeHead(503, { 'retry-after': '600' }).end()
  })
  host.listen(0, '127.0.0.1')
  await gateway.link(sender)
}, 60_000)

afterAll(async () => {
  host?.closeAllConnections()
  host?.close()
  await system?.close()
}, 30_000)

async function sendFile(number: string, path: string): Promise<string> {
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}${path}`
  const { body } = await gateway.call('send-media', { sender, number, type: 'image', url })
  return String(body.message_id)
}

const send = (number: string) => gateway.send(sender, number, 'x')
const read = async (id: string) => (await gateway.call('message-status', { message_id: id })).body

const untilWaitingFor = (id: string, reason: string) =>
  until(`the message waits for ${reason}`, async () => (await read(id)).waiting_for === reason)

describe('a file that cannot be had', () => {
  it('fails within its time, and says until then what waits for what', async () => {
    const file = await sendFile('15552094502', '/unavailable')
    const text = await send('15552094502')
    const retryAt = await until(
      'the file is to be asked for again',
      async () => (await read(file)).waiting_until ?? undefined,
    )
    expect(Date.parse(String(retryAt)) - Date.now()).toBeLessThan(mediaRetryMs + 1000)
    await untilWaitingFor(text, 'earlier_message')
    const listed = (await gateway.get('messages?number=15552094502')).body.messages
    expect((listed as Record<string, unknown>[]).map((message) => message.waiting_for)).toEqual([
      'earlier_message',
      'file',
    ])
    const before = asked
    expect(await gateway.untilStatus(file, 'failed')).toMatchObject({ error_code: 'media_fetch_failed' })
    expect(asked).toBeGreaterThan(before)
    await gateway.untilStatus(text, 'delivered')
    expect(await read(text)).toMatchObject({ waiting_for: null, waiting_until: null })
  })

  it.each(['/unavailable', '/silent'])('frees what is behind it when it is canceled: %s', async (path) => {
    const number = path === '/silent' ? '15552094503' : '15552094504'
    const file = await sendFile(number, path)
    await untilWaitingFor(file, 'file')
    const text = await send(number)
    await untilWaitingFor(text, 'earlier_message')
    const canceledAtMs = Date.now()
    expect((await gateway.call('cancel-message', { message_id: file })).status).toBe(200)
    const { sent_at } = await gateway.untilStatus(text, 'delivered')
    expect(Date.parse(String(sent_at)) - canceledAtMs).toBeLessThan(mediaRetryMs / 2)
  })
})
