import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type DnsServer, startDnsServer } from '@wagate/test-kit/dns-server'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { startTestProxy, type TestProxy } from '@wagate/test-kit/proxies/test-proxy'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { afterAll, beforeAll, expect, test } from 'vitest'

const [hostile, honest] = ['15552066001', '15552066002']
const picture = mediaSamples.find(({ type }) => type === 'image')?.bytes

let dns: DnsServer
let host: Server
let port: number
let proxy: TestProxy
let system: TestSystem
let other: GatewayClient

beforeAll(async () => {
  dns = await startDnsServer((name) => {
    if (name.endsWith('.silent.example')) return 'silent'
    return name.endsWith('.honest.example') ? ['127.0.0.1'] : 'missing'
  })
  host = createServer((request, response) => {
    request.resume()
    response.end(request.method === 'GET' ? picture : '')
  }).listen(0, '127.0.0.1')
  await once(host, 'listening')
  port = (host.address() as AddressInfo).port
  proxy = await startTestProxy('http')
  system = await openTestSystem({
    workers: 1,
    environment: {
      DNS_SERVERS: dns.address,
      ALLOW_PRIVATE_WEBHOOK_HOSTS: 'true',
      ALLOW_PRIVATE_PROXY_HOSTS: 'true',
    },
  })
  other = await system.createAccount()
  await Promise.all([system.gateway.link(hostile), other.link(honest)])
}, 60_000)

afterAll(async () => {
  await system?.close()
  await proxy?.kill()
  host?.closeAllConnections()
  host?.close()
  dns?.close()
}, 30_000)

const silentlyAsked = () => [...dns.asked].filter((name) => name.endsWith('.silent.example')).length

/** Twenty webhooks and two hundred media, each at a name whose servers are silent. */
async function flood({ call }: GatewayClient): Promise<void> {
  for (let count = 0; count < 20; count++) {
    const { body } = await call('set-webhook', { url: `http://w${count}.silent.example/` })
    void call('test-webhook', { webhook_id: body.webhook_id }).catch(() => undefined)
  }
  for (let start = 0; start < 200; start += 50) {
    const calls = Array.from({ length: 50 }, (_, index) => {
      const at = start + index
      const url = `http://m${at}.silent.example/`
      return call('send-media', { sender: hostile, number: String(15_552_066_1000 + at), type: 'image', url })
    })
    await Promise.all(calls)
  }
}

test('names whose servers are silent delay no other account, nor the end of the worker', async () => {
  await flood(system.gateway)
  await expect.poll(silentlyAsked, { timeout: 20_000 }).toBeGreaterThan(10)

  const { body: webhook } = await other.call('set-webhook', { url: `http://hook.honest.example:${port}/` })
  for (let count = 0; count < 5; count++) {
    const { body } = await other.call('test-webhook', { webhook_id: webhook.webhook_id })
    expect(body).toMatchObject({ result: 'delivered', status: 200 })
  }

  const url = `http://files.honest.example:${port}/`
  const sent = await other.call('send-media', { sender: honest, number: '15552066003', type: 'image', url })
  await other.untilStatus(String(sent.body.message_id), 'delivered')

  for (const address of ['none', proxy.url.replace('127.0.0.1', 'proxy.honest.example')]) {
    await other.call('set-device', { sender: honest, proxy: address })
    const { body } = await other.call('restart-session', { sender: honest })
    expect(body).toMatchObject({ restarted: true, status: 'connected' })
  }
  expect(dns.asked).toContain('proxy.honest.example')

  expect(await system.devnet.stop('worker-1')).toMatchObject({ code: 0, signal: null })
  expect(system.logs().get('worker-1')).toContain('Worker stopped')
}, 120_000)
