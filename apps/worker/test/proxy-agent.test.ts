import { lookup as systemLookup } from 'node:dns'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { type AddressInfo, createServer, type LookupFunction, type Server, type Socket } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { inspect } from 'node:util'
import { parseProxyUrl } from '@wagate/shared/proxy-url'
import { makeCertificate } from '@wagate/test-kit/make-certificate'
import { type ProxyKind, startTestProxy, type TestProxy } from '@wagate/test-kit/proxies/test-proxy'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { ProxyAgent, ProxyError, type ProxyRules } from '../src/session/network/proxy-agent.ts'

const kinds: ProxyKind[] = ['http', 'socks5']
const hasIpv6 = Object.values(networkInterfaces()).some((found) =>
  found?.some(({ address }) => address === '::1'),
)
const rules: ProxyRules = { deadlineMs: 5000, allowsPrivateHosts: true, lookup: () => systemLookup }
const proxies = {} as Record<ProxyKind, TestProxy>
const servers: Server[] = []
const sockets: Socket[] = []
let target: http.Server
/** Connections to the target, however they came. */
let reached = 0

beforeAll(async () => {
  for (const kind of kinds) proxies[kind] = await startTestProxy(kind)
  target = http.createServer((_, response) => response.end('reached'))
  target.on('connection', () => {
    reached += 1
  })
  await listen(target)
})
afterAll(async () => {
  for (const kind of kinds) await proxies[kind]?.kill()
  for (const socket of sockets) socket.destroy()
  for (const server of [target, ...servers]) server?.close()
})

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function serve(answer: (socket: Socket) => void, host = '127.0.0.1'): Promise<number> {
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined))
    // Otherwise it would not see the end.
    socket.resume()
    answer(socket)
  })
  servers.push(server)
  return listen(server, host)
}

function agentFor(url: string, given: Partial<ProxyRules> = {}): ProxyAgent {
  const proxy = parseProxyUrl(url)
  if (!proxy) throw new Error(`No proxy: ${url}`)
  return new ProxyAgent(proxy, { ...rules, ...given })
}

/** The text of the target, or the error of the request. */
async function get(agent: http.Agent): Promise<string | ProxyError> {
  const { port } = target.address() as AddressInfo
  const request = http.get({ host: 'localhost', port, agent })
  try {
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    return String(await response.toArray())
  } catch (error) {
    return error as ProxyError
  }
}

async function detailOf(agent: http.Agent): Promise<string | null> {
  const before = reached
  const error = await get(agent)
  expect(error).toBeInstanceOf(ProxyError)
  expect(reached).toBe(before)
  return (error as ProxyError).detail
}

describe.each(kinds)('a connection through a %s proxy', (kind) => {
  it('reaches its target, whose name the proxy resolves', async () => {
    expect(await get(agentFor(proxies[kind].url))).toBe('reached')
    const { port } = target.address() as AddressInfo
    expect(proxies[kind].targets).toContain(`localhost:${port}`)
  })

  it('is none with a wrong password', async () => {
    const detail = await detailOf(agentFor(proxies[kind].url.replace('cret', 'wrong')))
    expect(detail).toBe(kind === 'http' ? '407' : null)
  })

  it('is none when nothing listens', async () => {
    const server = createServer()
    const port = await listen(server)
    server.close()
    const detail = await detailOf(agentFor(`${kind}://127.0.0.1:${port}`))
    expect(detail).toBe(kind === 'http' ? 'ECONNREFUSED' : null)
  })

  it('is none when the proxy says nothing, and its connection is closed', async () => {
    const open = new Set<Socket>()
    const port = await serve((socket) => open.add(socket.on('close', () => open.delete(socket))))
    expect(await detailOf(agentFor(`${kind}://127.0.0.1:${port}`, { deadlineMs: 300 }))).toBe('timeout')
    await expect.poll(() => open.size).toBe(0)
  })

  it.each(['HTTP/1.1 200\r\ngarbage', '\x05\xff', 'garbage\r\n\r\n', ''])(
    'is none when the proxy answers %j and closes',
    async (answer) => {
      const port = await serve((socket) => socket.end(answer))
      await detailOf(agentFor(`${kind}://127.0.0.1:${port}`))
    },
  )

  it.skipIf(!hasIpv6)('is asked of a proxy at an IPv6 address', async () => {
    let asked = 0
    const port = await serve(
      (socket) =>
        socket.once('data', () => {
          asked += 1
          socket.destroy()
        }),
      '::1',
    )
    await detailOf(agentFor(`${kind}://[::1]:${port}`))
    expect(asked).toBe(1)
  })

  it('is none at a private address, written or behind a name', async () => {
    const { port } = proxies[kind]
    const lookup = (): LookupFunction => (_, options, callback) =>
      options.all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4)
    for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
      const agent = agentFor(`${kind}://shop:s%3Acret@${host}:${port}`, { allowsPrivateHosts: false })
      expect(await detailOf(agent), host).toBe('forbidden_address')
    }
    const url = `${kind}://shop:s%3Acret@proxy.example.com:${port}`
    expect(await get(agentFor(url, { lookup }))).toBe('reached')
    const detail = await detailOf(agentFor(url, { lookup, allowsPrivateHosts: false }))
    expect(detail).toBe(kind === 'http' ? 'ENOTFOUND' : null)
  })

  it('shows no password', async () => {
    const agent = agentFor(proxies[kind].url.replace('cret', 'wrong'))
    const error = (await get(agent)) as ProxyError
    const shown = inspect([agent, error, error.stack], { depth: 20, showHidden: true })
    expect(shown).not.toMatch(/s:wrong|s%3Awrong/)
    expect(shown).not.toContain(Buffer.from('shop:s:wrong').toString('base64'))
  })
})

describe('a connection with TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-proxy-'))
  let secure: https.Server
  let port: number
  let ca: Buffer
  beforeAll(async () => {
    const { keyFile, certificateFile } = makeCertificate('target', folder)
    ca = readFileSync(certificateFile)
    secure = https.createServer({ key: readFileSync(keyFile), cert: ca }, ({ socket }, response) => {
      response.end(`reached ${String((socket as TLSSocket).servername)}`)
    })
    port = await listen(secure)
  })
  afterAll(() => {
    secure.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const getSecure = (kind: ProxyKind, host: string, trusted?: Buffer) =>
    new Promise<string>((resolve, reject) => {
      https
        .get({ host, port, agent: agentFor(proxies[kind].url), ca: trusted }, (response) => {
          response.toArray().then((chunks) => resolve(String(chunks)), reject)
        })
        .on('error', reject)
    })

  it.each(kinds)('reaches its target through a %s proxy, which is the one that it names', async (kind) => {
    expect(await getSecure(kind, 'localhost', ca)).toBe('reached localhost')
    // The library for SOCKS compares the certificate with `localhost`. WhatsApp's hosts have names.
    if (kind === 'http') {
      const ofOther = getSecure(kind, '127.0.0.1', ca)
      await expect(ofOther).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    }
    await expect(getSecure(kind, 'localhost')).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  })
})

test.each([
  ['an answer without an end', 'HTTP/1.1 200 OK\r\n', 'HPE_HEADER_OVERFLOW'],
  ['a status without an end', 'HTTP/1.1 200 ', 'HPE_HEADER_OVERFLOW'],
  ['an interim answer', '', '103'],
])('a connection is none through a proxy that gives %s', async (_, begin, detail) => {
  const more = begin === '' ? 'HTTP/1.1 103 Early Hints\r\n\r\n' : 'a'.repeat(10_000)
  const port = await serve((socket) => {
    socket.write(begin)
    const write = () => socket.writable && socket.write(more, () => setImmediate(write))
    write()
  })
  expect(await detailOf(agentFor(`http://127.0.0.1:${port}`))).toBe(detail)
})

test.each(['401', '403', '503'])('a refusal with %s is that of the proxy', async (status) => {
  const port = await serve((socket) => {
    socket.once('data', () => socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`))
  })
  expect(await detailOf(agentFor(`http://127.0.0.1:${port}`))).toBe(status)
})
