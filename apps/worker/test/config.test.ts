import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns'
import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { readConfig } from '../src/config/config.ts'

const required = {
  DATABASE_URL: 'postgres://localhost/wagate',
  REDIS_URL: 'redis://localhost',
  MASTER_KEY: randomBytes(32).toString('base64'),
}

test('a worker is named after its host unless it is given a name', () => {
  expect(readConfig(required).ownership.name).toBe(hostname())
  expect(readConfig({ ...required, WORKER_NAME: 'w1' }).ownership.name).toBe('w1')
})

test('refuses a heartbeat interval that leaves no room for one failed heartbeat', () => {
  const beats = { ...required, LEASE_TTL_MS: '6000', HEARTBEAT_MS: '3000' }
  expect(() => readConfig(beats)).toThrow('HEARTBEAT_MS: must be less than half of LEASE_TTL_MS')
  expect(readConfig({ ...beats, HEARTBEAT_MS: '2999' }).ownership.heartbeatMs).toBe(2999)
})

test('names every invalid variable in one message, without revealing a secret', () => {
  const read = () => readConfig({ REDIS_URL: 'http://x', MASTER_KEY: 'hush' })
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'MASTER_KEY']) expect(read).toThrow(name)
  expect(read).not.toThrow('hush')
})

test('reads words in any case, and refuses a word that means both to opt out and to opt in', () => {
  const words = { ...required, OPT_OUT_WORDS: ' Stop, ABMELDEN,,', OPT_IN_WORDS: 'start' }
  expect(readConfig(words).consentWords).toEqual({ optOut: ['stop', 'abmelden'], optIn: ['start'] })
  expect(readConfig(required).consentWords).toEqual({ optOut: [], optIn: [] })
  const read = () => readConfig({ ...words, OPT_IN_WORDS: 'STOP' })
  expect(read).toThrow('OPT_IN_WORDS: must have no word of OPT_OUT_WORDS')
})

test('name servers are IP addresses, with or without a port', () => {
  const read = (DNS_SERVERS: string) => readConfig({ ...required, DNS_SERVERS }).dnsServers
  const servers = ['192.0.2.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]:53']
  expect(read(servers.join(', '))).toEqual(servers)
  expect(read('')).toBeUndefined()
  for (const server of [
    'dns.example',
    '192.0.2.1:0',
    '192.0.2.1:65536',
    '[192.0.2.1]:53',
    '192.0.2.1,',
    '192.0.2.1:',
  ]) {
    expect(() => read(server), server).toThrow('DNS_SERVERS: must be IP addresses')
  }
  // What is accepted can be used.
  expect(() => new Resolver().setServers(servers)).not.toThrow()
})

const simulator = {
  ...required,
  WHATSAPP_NETWORK: 'simulator',
  WHATSAPP_SOCKET_URL: 'ws://127.0.0.1:8788/ws/chat',
  WHATSAPP_ROOT_KEY: Buffer.alloc(32, 1).toString('base64'),
  WHATSAPP_MEDIA_HOST: '127.0.0.1:8788',
}

test('accepts addresses and a trust anchor of a simulator only when it is configured to use one', () => {
  expect(readConfig(simulator).whatsApp.network).toBe('simulator')
  const read = () => readConfig({ ...simulator, WHATSAPP_NETWORK: 'live' })
  for (const name of ['WHATSAPP_SOCKET_URL', 'WHATSAPP_ROOT_KEY', 'WHATSAPP_MEDIA_HOST']) {
    expect(read).toThrow(`${name}: only with WHATSAPP_NETWORK=simulator`)
  }
  expect(() => readConfig({ ...required, WHATSAPP_NETWORK: 'simulator' })).toThrow(
    'WHATSAPP_ROOT_KEY: is required',
  )
})

test.each([
  ['127.0.0.1', true],
  ['[::1]', true],
  ['10.1.2.3', true],
  ['172.31.0.1', true],
  ['192.168.1.1', true],
  ['simulator', true],
  ['localhost', true],
  ['172.32.0.1', false],
  ['8.8.8.8', false],
  ['[2001:db8::1]', false],
  ['web.whatsapp.com', false],
  ['127.0.0.1.example.com', false],
])('a simulator at %s: %s', (host, isTaken) => {
  const read = () => readConfig({ ...simulator, WHATSAPP_SOCKET_URL: `ws://${host}:8788/ws/chat` })
  if (isTaken) expect(read).not.toThrow()
  else expect(read).toThrow('WHATSAPP_SOCKET_URL: must be a loopback or private address')
})
