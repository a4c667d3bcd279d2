import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { type ProxyKind, startTestProxy, type TestProxy } from '@wagate/test-kit/proxies/test-proxy'
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

describe.each(['http', 'socks5'] as const)('a sender with a %s proxy', (kind: ProxyKind) => {
  const sender = kind === 'http' ? '15552000001' : '15552000002'
  let proxy: TestProxy
  let others = 0
  /** Of this sender. */
  const directly = () => directConnections() - others

  beforeAll(async () => {
    proxy = await startTestProxy(kind)
    others = directConnections()
  })
  afterAll(() => proxy?.kill())

  const call = (operation: string, fields = {}) => gateway.call(operation, { sender, ...fields })
  const untilConnected = () =>
    until('the sender is connected', async () => (await gateway.statusOf(sender)).status === 'connected')

  async function send(text: string): Promise<string> {
    const { body } = await call('send-message', { number: contact, message: text })
    return String(body.message_id)
  }

  it('shows it without its password, and has no code while it is dead', async () => {
    await gateway.call('create-device', { sender })
    await proxy.kill()
    const { status, body } = await call('set-device', { proxy: proxy.url })
    expect([status, body.proxy]).toEqual([200, `${kind}://127.0.0.1:${proxy.port}`])
    expect(JSON.stringify(await call('info-device'))).not.toMatch(/cret/)
    expect(await call('generate-qr')).toMatchObject({
      status: 409,
      body: { code: 'proxy_failed', error: expect.stringContaining(kind === 'http' ? 'ECONNREFUSED' : '') },
    })
    expect(directly()).toBe(0)
    await proxy.restart()
  })

  it('is linked, sends, receives, uploads and downloads through it only', async () => {
    const qr = await until('there is a QR code', async () => {
      const { status, body } = await call('generate-qr')
      return status === 200 ? String(body.qr_text) : undefined
    })
    await system.phones.scan(qr, sender)
    await untilConnected()
    await gateway.deliver(sender, contact)
    const media = { number: contact, type: 'document', url: pdf }
    const { body } = await call('send-media', media)
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
    await gateway.control(`/chats/${contact}/send`, {
      to: sender,
      text: `file ${kind}`,
      file,
      mime: 'image/jpeg',
    })
    await until('the file is stored', async () => {
      const [stored] = await system.database.$client`
        SELECT FROM received_media JOIN devices ON devices.id = device_id WHERE sender = ${sender} AND state = 'stored'`
      return stored
    })
    expect(proxy.targets.length).toBeGreaterThan(beforeFile)
    expect(new Set(proxy.targets)).toEqual(new Set([network]))
    expect(directly()).toBe(0)
  })

  it('loses and doubles nothing when it is killed, says why it is away, and comes back', async () => {
    const first = await Promise.all(Array.from({ length: 20 }, (_, index) => send(`${kind} ${index}`)))
    await proxy.kill()
    const later = await Promise.all(Array.from({ length: 20 }, (_, index) => send(`${kind} ${20 + index}`)))
    await until('the status says why', async () => {
      const { status, status_reason } = await gateway.statusOf(sender)
      return status === 'disconnected' && status_reason === 'proxy_failed'
    })
    await proxy.restart()
    for (const id of [...first, ...later]) await gateway.untilStatus(id, 'delivered')
    const arrived = await gateway.control<{ text: string | null }[]>(
      `/chats/${contact}/messages?from=${sender}`,
    )
    const texts = arrived.map(({ text }) => text).filter((text) => text?.startsWith(kind))
    expect(texts.toSorted()).toEqual(Array.from({ length: 40 }, (_, index) => `${kind} ${index}`).toSorted())
    expect(directly()).toBe(0)
  }, 60_000)

  it('keeps it when another worker takes over', async () => {
    const owner = await system.ownerOf(sender)
    const before = proxy.targets.length
    system.devnet.signal(owner, 'SIGKILL')
    await until('another worker owns the sender', async () => (await system.ownerOf(sender)) !== owner)
    await until('it connects through the proxy', async () => proxy.targets.length > before)
    await untilConnected()
    await gateway.deliver(sender, contact)
    await system.devnet.start(owner)
    expect(directly()).toBe(0)
  }, 60_000)

  it('connects again as soon as it is changed or removed', async () => {
    const other = await startTestProxy(kind)
    await call('set-device', { proxy: other.url })
    await until('it uses the other proxy', async () => other.targets.length > 0)
    await untilConnected()
    expect(directly()).toBe(0)
    expect((await call('set-device', { proxy: 'none' })).body.proxy).toBeNull()
    await until('it connects directly', async () => directly() > 0)
    await untilConnected()
    await gateway.deliver(sender, contact)
    await other.kill()
    // Its later logins would count as direct connections of the next sender.
    await call('logout-device')
  }, 60_000)
})
