import { createServer, type Server } from 'node:http'
import { Agent } from 'node:https'
import type { AddressInfo, LookupFunction } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { downloadedBy, makeWhatsAppFetch } from '../src/session/network/whatsapp-fetch.ts'
import { WhatsAppRoute } from '../src/session/network/whatsapp-route.ts'

let server: Server
let host: string
const asked: string[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (request.url === '/moved') response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
    else response.end(Buffer.alloc(request.url === '/large' ? 3000 : 1000))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const limits = { bytesMax: 2000, deadlineMs: 5000 }

describe('a download on the live network', () => {
  const lookedUp: string[] = []
  const lookup: LookupFunction = (hostname, _options, callback) => {
    lookedUp.push(hostname)
    callback(null, [{ address: '10.0.0.5', family: 4 }])
  }
  const fetchLive = makeWhatsAppFetch(limits)
  const bySocket = (agent?: Agent) => downloadedBy(new WhatsAppRoute({ agent, lookup }))

  test.each([
    'https://mmg.whatsapp.net:9443/x',
    'https://mmg.whatsapp.net.evil.example/x',
    'https://mmg.whatsapp.net@evil.example/x',
    'https://evil.example/x',
    'https://whatsapp.net.evil/x',
    'https://127.0.0.1/x',
    'http://mmg.whatsapp.net/x',
  ])('refuses %s before its name is looked up', async (url) => {
    await expect(fetchLive(url, bySocket())).rejects.toThrow('not one of WhatsApp')
    expect(lookedUp).toEqual([])
  })

  test('refuses a WhatsApp host whose name resolves to a private address', async () => {
    await expect(fetchLive('https://mmg.whatsapp.net/x', bySocket())).rejects.toThrow()
    expect(lookedUp.splice(0)).toEqual(['mmg.whatsapp.net'])
  })

  test('refuses what is not known to belong to a sender, which may have a proxy', async () => {
    await expect(fetchLive('https://mmg.whatsapp.net/x')).rejects.toThrow('unknown sender')
    expect(lookedUp).toEqual([])
  })

  test('goes through the proxy of its sender, which looks the name up', async () => {
    const asked: string[] = []
    const agent = new (class extends Agent {
      override createConnection(options: { host?: string }): never {
        asked.push(String(options.host))
        throw new Error('no connection')
      }
    })()
    await expect(fetchLive('https://mmg.whatsapp.net/x', bySocket(agent))).rejects.toThrow('no connection')
    expect(asked).toEqual(['mmg.whatsapp.net'])
    expect(lookedUp).toEqual([])
  })

  test('refuses to send anything', async () => {
    await expect(fetchLive('https://mmg.whatsapp.net/x', { method: 'POST' })).rejects.toThrow('GET')
  })
})

describe('a download on the simulated network', () => {
  const download = (url: string) =>
    makeWhatsAppFetch(limits)(url, downloadedBy(new WhatsAppRoute({ simulatedHost: host })))

  test('comes from the simulator for every WhatsApp host', async () => {
    const response = await download('https://mmg.whatsapp.net/file?a=1')
    expect(Buffer.from(await response.arrayBuffer()).length).toBe(1000)
    expect(asked.at(-1)).toBe('/file?a=1')
  })

  test('does not follow a redirect', async () => {
    expect(await download('https://mmg.whatsapp.net/moved')).toMatchObject({ ok: false, status: 302 })
  })

  test('ends with an error when it is too large', async () => {
    const response = await download('https://mmg.whatsapp.net/large')
    await expect(response.arrayBuffer()).rejects.toThrow()
  })

  test.each(['https://mmg.whatsapp.net:9443/x', 'https://mmg.whatsapp.net.evil.example/x'])(
    'refuses %s',
    async (url) => {
      await expect(download(url)).rejects.toThrow('not one of WhatsApp')
    },
  )
})
