import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { type ProxyKind, startTestProxy, type TestProxy } from '@wagate/test-kit/proxies/test-proxy'
import { shortLease } from '@wagate/test-kit/short-lease'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const recorder = fileURLToPath(new URL('record-connections.mjs', import.meta.url))
const contact = '4915199890001'
const pdf = `data:application/pdf;base64,${Buffer.from('%PDF-1.4\nproxy').toString('base64')}`

let system: TestSystem
let gateway: GatewayClient
let connectionsFile: string
/** Of the simulated network: WebSocket, uploads and downloads. */
let network: string

beforeAll(async () => {
  connectionsFile = join(mkdtempSync(join(tmpdir(), 'wagate connections ')), 'connections')
  system = await openTestSystem({
    environment: (name) => ({
      ALLOW_PRIVATE_PROXY_HOSTS: 'true',
      STATUS_GRACE_MS: '0',
      ...shortLease,
      HEARTBEAT_MS: '200',
      ...(name.startsWith('worker') && {
        NODE_OPTIONS: `--import=${recorder}`,
        CONNECTIONS_FILE: connectionsFile,
      }),
    }),
  })
  gateway = system.gateway
  network = new URL(system.devnet.simulator?.socketUrl ?? '').host
}, 60_000)
afterAll(async () => {
  await system?.close()
  if (connectionsFile) rmSync(dirname(connectionsFile), { recursive: true, force: true })
}, 30_000)

/** How often a worker has connected to WhatsApp without a proxy. */
function directConnections(): number {
  if (!existsSync(connectionsFile)) return 0
  const { port } = new URL(`http://${network}`)
  const lines = readFileSync(connectionsFile, 'utf8').split('\n')
  return lines.filter((line) => line.startsWith('connect ') && line.endsWith(`:${port}`)).length
}

type Case = { kind: ProxyKind; sender: string; proxy: TestProxy }

describe('senders with an http and a socks5 proxy', () => {
  let cases: Case[] = []

  beforeAll(async () => {
    cases = [
      { kind: 'http', sender: '15552000001', proxy: await startTestProxy('http') },
      { kind: 'socks5', sender: '15552000002', proxy: await startTestProxy('socks5') },
    ]
  })
  afterAll(() => ofEach(({ proxy }) => proxy.kill()))

  async function ofEach(work: (one: Case) => Promise<unknown>): Promise<void> {
    await Promise.all(cases.map(work))
  }

  const untilConnected = (sender: string) =>
    until('the sender is connected', async () => (await gateway.statusOf(sender)).status === 'connected')

  it('show it without its password, and have no code while it is dead', async () => {
    await ofEach(async ({ kind, sender, proxy }) => {
      await gateway.call('create-device', { sender })
      await proxy.kill()
      const { status, body } = await gateway.call('set-device', { sender, proxy: proxy.url })
      expect([status, body.proxy]).toEqual([200, `${kind}://127.0.0.1:${proxy.port}`])
      expect(JSON.stringify(await gateway.statusOf(sender))).not.toMatch(/cret/)
      expect(await gateway.call('generate-qr', { sender })).toMatchObject({
        status: 409,
        body: { code: 'proxy_failed', error: expect.stringContaining(kind === 'http' ? 'ECONNREFUSED' : '') },
      })
    })
    expect(directConnections()).toBe(0)
    await ofEach(({ proxy }) => proxy.restart())
  })

  it('show no code of a connection that has ended', async () => {
    await ofEach(async ({ sender, proxy }) => {
      const generateQr = () =>
        until('there is a QR code', async () => {
          const { status, body } = await gateway.call('generate-qr', { sender })
          return status === 200 && String(body.qr_text)
        })
      const former = await generateQr()
      await proxy.kill()
      await until('the code is gone', async () => {
        const { body } = await gateway.call('pairing-status', { sender })
        return body.qr_data_url === null
      })
      await proxy.restart()
      expect(await generateQr()).not.toBe(former)
    })
  }, 60_000)

  it('are linked, send, receive, upload and download through it only', async () => {
    await ofEach(async ({ kind, sender, proxy }) => {
      const qr = await until('there is a QR code', async () => {
        const { status, body } = await gateway.call('generate-qr', { sender })
        return status === 200 ? String(body.qr_text) : undefined
      })
      await system.phones.scan(qr, sender)
      await untilConnected(sender)
      await gateway.deliver(sender, contact)
      const { body } = await gateway.call('send-media', {
        sender,
        number: contact,
        type: 'document',
        url: pdf,
      })
      await gateway.untilStatus(String(body.message_id), 'delivered')
      const before = proxy.targets.length
      await gateway.control(`/chats/${sender}/history`, { from: 'phone', as_file: true })
      await until('the history was downloaded', async () => proxy.targets.length > before)
      await gateway.control(`/chats/${contact}/send`, { to: sender, text: `hello ${kind}` })
      await until('the answer is stored', async () =>
        (await gateway.history()).some(({ message }) => message === `hello ${kind}`),
      )
      const beforeFile = proxy.targets.length
      const file = Buffer.from(`file over ${kind}`).toString('base64')
      const sent = { to: sender, text: `file ${kind}`, file, mime: 'image/jpeg' }
      await gateway.control(`/chats/${contact}/send`, sent)
      await until('the file is stored', async () => {
        const [stored] = await system.database.$client`
          SELECT FROM received_media JOIN devices ON devices.id = device_id WHERE sender = ${sender} AND state = 'stored'`
        return stored
      })
      expect(proxy.targets.length).toBeGreaterThan(beforeFile)
      expect(new Set(proxy.targets)).toEqual(new Set([network]))
    })
    expect(directConnections()).toBe(0)
  }, 60_000)

  it('lose and double nothing when it is killed, say why they are away, and come back', async () => {
    await ofEach(async ({ kind, sender, proxy }) => {
      const texts = Array.from({ length: 40 }, (_, index) => `${kind} ${index}`)
      const send = (text: string) => gateway.send(sender, contact, text)
      const first = await Promise.all(texts.slice(0, 20).map(send))
      await proxy.kill()
      const later = await Promise.all(texts.slice(20).map(send))
      await until('the status says why', async () => {
        const { status, status_reason } = await gateway.statusOf(sender)
        return status === 'disconnected' && status_reason === 'proxy_failed'
      })
      await proxy.restart()
      for (const id of [...first, ...later]) await gateway.untilStatus(id, 'delivered')
      const arrived = await gateway.phone(contact, sender)
      const sent = arrived.map(({ text }) => text).filter((text) => text?.startsWith(kind))
      expect(sent.toSorted()).toEqual(texts.toSorted())
    })
    expect(directConnections()).toBe(0)
  }, 60_000)

  it('keep it when another worker takes over', async () => {
    const owners = await Promise.all(cases.map(({ sender }) => system.ownerOf(sender)))
    const before = new Map(cases.map(({ sender, proxy }) => [sender, proxy.targets.length]))
    for (const owner of new Set(owners)) system.devnet.signal(owner, 'SIGKILL')
    await system.devnet.start('worker-3')
    await ofEach(async ({ sender, proxy }) => {
      await until('another worker owns the sender', async () => {
        return !owners.includes(await system.ownerOf(sender))
      })
      await until('it connects through the proxy', async () => {
        return proxy.targets.length > Number(before.get(sender))
      })
      await untilConnected(sender)
      await gateway.deliver(sender, contact)
    })
    expect(directConnections()).toBe(0)
  }, 60_000)

  it('connect again as soon as it is changed or removed', async () => {
    const others = await Promise.all(cases.map(({ kind }) => startTestProxy(kind)))
    for (const [index, { sender }] of cases.entries()) {
      const other = others[index]
      await gateway.call('set-device', { sender, proxy: other?.url })
      await until('it uses the other proxy', async () => other && other.targets.length > 0)
      await untilConnected(sender)
    }
    expect(directConnections()).toBe(0)
    for (const { sender } of cases) {
      const before = directConnections()
      const { body } = await gateway.call('set-device', { sender, proxy: 'none' })
      expect(body.proxy).toBeNull()
      await until('it connects directly', async () => directConnections() > before)
      await untilConnected(sender)
      await gateway.deliver(sender, contact)
    }
    await Promise.all(others.map((other) => other.kill()))
  }, 60_000)
})
