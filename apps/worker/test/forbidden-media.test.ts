import type { RequestListener } from 'node:http'
import type { LookupFunction } from 'node:net'
import { hostname } from 'node:os'
import { isForbiddenAddress } from '@wagate/shared/public-hosts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FetchLimits, fetchMedia } from '../src/media/fetch-media.ts'
import { type MediaHost, openMediaHost } from './media-host.ts'

/** Servers of this machine that nobody outside may reach through us. They have one port. */
let victims: MediaHost[]
/** A server of this machine that counts as a public one in these tests. */
let door: MediaHost
const doorAddress = '::1'
let port: number

const anything: RequestListener = (_, response) => response.end('secret')
const everywhere = new Proxy({}, { get: () => anything })
const redirect =
  (to: () => string, status = 302): RequestListener =>
  (_, response) =>
    response.writeHead(status, { location: to() }).end()

/** What the public server answers, and what its operator hopes for. */
const pages: Record<string, RequestListener> = {
  '/to-address': redirect(() => `http://127.0.0.1:${port}/`),
  '/to-name': redirect(() => `http://localhost:${port}/`),
  '/to-number': redirect(() => `http://2130706433:${port}/`),
  '/to-mapped': redirect(() => `http://[::ffff:127.0.0.1]:${port}/`),
  '/to-any': redirect(() => `http://0.0.0.0:${port}/`),
  '/without-scheme': redirect(() => `//127.0.0.1:${port}/`),
  '/permanently': redirect(() => `http://127.0.0.1:${port}/`, 301),
  '/see-other': redirect(() => `http://127.0.0.1:${port}/`, 303),
  '/temporarily': redirect(() => `http://127.0.0.1:${port}/`, 307),
  '/for-good': redirect(() => `http://127.0.0.1:${port}/`, 308),
  '/multiple-choices': redirect(() => `http://127.0.0.1:${port}/`, 300),
  '/twice': redirect(() => '/to-address'),
  '/to-metadata': redirect(() => 'http://169.254.169.254/latest/meta-data/'),
  '/to-user': redirect(() => `http://a:b@127.0.0.1:${port}/`),
  '/to-file': redirect(() => 'file:///etc/passwd'),
  '/to-ftp': redirect(() => `ftp://127.0.0.1:${port}/`),
  '/to-gopher': redirect(() => `gopher://127.0.0.1:${port}/_GET%20/`),
  '/to-data': redirect(() => 'data:image/png;base64,AAAA'),
  '/to-https': redirect(() => `https://127.0.0.1:${port}/`),
  '/circle': redirect(() => '/circle'),
  '/four': redirect(() => '/three'),
  '/three': redirect(() => '/two'),
  '/two': redirect(() => '/one'),
  '/one': redirect(() => `http://127.0.0.1:${port}/`),
  '/nowhere': redirect(() => 'http://'),
  '/again': redirect(() => `http://rebound.test:${door.port}/`),
}

/** Names and the addresses they resolve to: the first time, the second time, and so on. */
const names: Record<string, string[][]> = {
  'loopback.test': [['127.0.0.1']],
  'loopback-v6.test': [['0:0:0:0:0:0:0:1']],
  'mapped.test': [['::ffff:127.0.0.1']],
  'translated.test': [['::ffff:0:127.0.0.1']],
  'private.test': [['10.0.0.1']],
  'metadata.test': [['169.254.169.254']],
  'one-of-two.test': [[doorAddress, '127.0.0.1']],
  'no-address.test': [['nonsense']],
  'nothing.test': [[]],
  // The trick of DNS rebinding: public when it is looked at, private when it is connected to.
  'rebound.test': [[doorAddress], ['127.0.0.1']],
}

function makeLookup(): LookupFunction & { count: number } {
  const lookup: LookupFunction & { count: number } = (name, options, callback) => {
    const answers = names[name]
    if (!answers) throw new Error(`${name} is no name of this test`)
    const answer = answers[Math.min(lookup.count, answers.length - 1)] ?? []
    lookup.count += 1
    const found = answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    if (options.all) callback(null, found)
    else callback(null, found[0]?.address ?? '', found[0]?.family)
  }
  lookup.count = 0
  return lookup
}

beforeAll(async () => {
  const first = await openMediaHost(everywhere)
  port = first.port
  victims = [first, await openMediaHost(everywhere, { address: '::1', port })]
  door = await openMediaHost(pages, { address: doorAddress })
})

afterAll(() => {
  for (const server of [...victims, door]) server.close()
})

const limits: Omit<FetchLimits, 'isForbidden'> = {
  bytesMax: 100_000,
  deadlineMs: 5000,
  room: { tryGrow: () => true, wait: async () => undefined, release: () => undefined },
}

/** The code that a fetch ends with. Whatever it is, the victims must not have been asked. */
async function codeOf(url: string, more: Partial<FetchLimits> = {}): Promise<string> {
  const hits = () => victims.map((victim) => victim.hits())
  const before = hits()
  const code = await fetchMedia(url, '/dev/null', {
    ...limits,
    isForbidden: isForbiddenAddress,
    ...more,
  }).then(
    () => 'fetched',
    (error: { code?: string }) => error.code ?? String(error),
  )
  expect(hits()).toEqual(before)
  return code
}

describe('internal addresses are never contacted', () => {
  test.each([
    // IPv4 in all the ways in which it can be written
    'http://127.0.0.1:PORT/',
    'http://127.0.0.1.:PORT/',
    'http://127.255.255.254:PORT/',
    'http://127.1:PORT/',
    'http://127.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0x7f.0.0.1:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://017700000001:PORT/',
    'http://0x7f.0x0.0x0.0x1:PORT/',
    'http://%31%32%37.0.0.1:PORT/',
    'http://①②⑦.⓪.⓪.①:PORT/',
    'http://１２７.0.0.1:PORT/',
    'http://127。0。0。1:PORT/',
    'http://127．0．0．1:PORT/',
    'http:127.0.0.1:PORT/',
    'http:\\\\127.0.0.1:PORT\\',
    'http://127.0.0.1:PORT/#@example.com',
    'HTTP://127.0.0.1:PORT/',
    'https://127.0.0.1:PORT/',
    ' http://127.0.0.1:PORT/ ',
    'http://127.0.0.1:\tPORT/',
    // this host
    'http://0.0.0.0:PORT/',
    'http://0:PORT/',
    'http://0x0:PORT/',
    'http://[::]:PORT/',
    // IPv6, and IPv4 inside it
    'http://[::1]:PORT/',
    'http://[0:0:0:0:0:0:0:1]:PORT/',
    'http://[0000::0001]:PORT/',
    'http://[::127.0.0.1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/',
    'http://[::ffff:0:127.0.0.1]:PORT/',
    'http://[64:ff9b::127.0.0.1]:PORT/',
    'http://[64:ff9b:1::127.0.0.1]:PORT/',
    'http://[2002:7f00:1::1]:PORT/',
    'http://[2001:0:7f00:1::1]:PORT/',
    'http://[fe80::1]:PORT/',
    'http://[fec0::1]:PORT/',
    'http://[fc00::1]:PORT/',
    'http://[ff02::1]:PORT/',
    // private networks, and others that are not public
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://172.31.255.254/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://169.254.1.1/',
    'http://192.0.0.1/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    // metadata of clouds
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/latest/meta-data/',
    'http://[::ffff:a9fe:a9fe]/latest/meta-data/',
    'http://169.254.170.2/v2/credentials',
    'http://168.63.129.16/machine',
    'http://100.100.100.200/latest/meta-data/',
    'http://192.0.0.192/',
    'http://[fd00:ec2::254]/latest/meta-data/',
    // names of this machine
    'http://localhost:PORT/',
    'http://LOCALHOST:PORT/',
    // who is asked may not be told who asks
    'http://user:password@example.com/',
    'http://user@127.0.0.1:PORT/',
    'http://example.com@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT@example.com/',
    // other ports and schemes
    'http://127.0.0.1:22/',
    'http://127.0.0.1:6379/',
    'file:///etc/passwd',
    'file://127.0.0.1/etc/passwd',
    'ftp://127.0.0.1:PORT/',
    'gopher://127.0.0.1:PORT/_GET%20/',
    'dict://127.0.0.1:PORT/info',
    'ldap://127.0.0.1:PORT/',
    'ws://127.0.0.1:PORT/',
    'javascript:fetch("http://127.0.0.1:PORT")',
    'blob:http://127.0.0.1:PORT/x',
    'c:\\windows\\win.ini',
  ])('%s', async (url) => {
    expect(await codeOf(url.replace('PORT', String(port)))).toBe('media_url_forbidden')
  })

  test.each([
    // Some systems know these names, others do not.
    'http://localhost.:PORT/',
    'http://a.localhost:PORT/',
    'http://ip6-localhost:PORT/',
    `http://${hostname()}:PORT/`,
    // no URLs
    '/etc/passwd',
    '../../etc/passwd',
    '//127.0.0.1:PORT/',
    'http://',
    'http://[::1%25lo]:PORT/',
    'http://127.0.0.1%00.example.com/',
    'http://[::ffff:127.0.0.1:PORT/',
    'http://127.0.0.1:99999/',
    'http://127.0.0.1 .example.com/',
    '',
  ])('%s', async (url) => {
    const code = await codeOf(url.replace('PORT', String(port)))
    expect(['media_url_forbidden', 'media_fetch_failed']).toContain(code)
  })
})

describe('a public server', () => {
  const isForbidden = (address: string) => address !== doorAddress && isForbiddenAddress(address)

  test.each([
    ['/to-address', 'media_url_forbidden'],
    ['/to-name', 'media_url_forbidden'],
    ['/to-number', 'media_url_forbidden'],
    ['/to-mapped', 'media_url_forbidden'],
    ['/to-any', 'media_url_forbidden'],
    ['/without-scheme', 'media_url_forbidden'],
    ['/permanently', 'media_url_forbidden'],
    ['/see-other', 'media_url_forbidden'],
    ['/temporarily', 'media_url_forbidden'],
    ['/for-good', 'media_url_forbidden'],
    ['/multiple-choices', 'media_url_forbidden'],
    ['/twice', 'media_url_forbidden'],
    ['/to-metadata', 'media_url_forbidden'],
    ['/to-user', 'media_url_forbidden'],
    ['/to-file', 'media_url_forbidden'],
    ['/to-ftp', 'media_url_forbidden'],
    ['/to-gopher', 'media_url_forbidden'],
    ['/to-data', 'media_url_forbidden'],
    ['/to-https', 'media_url_forbidden'],
    ['/circle', 'media_fetch_failed'],
    ['/four', 'media_fetch_failed'],
    ['/nowhere', 'media_fetch_failed'],
  ])('cannot redirect to an internal address (%s)', async (path, code) => {
    const before = door.hits()
    expect(await codeOf(door.origin + path, { isForbidden })).toBe(code)
    expect(door.hits()).toBeGreaterThan(before)
  })

  test.each([
    ['loopback.test', 'media_url_forbidden'],
    ['loopback-v6.test', 'media_url_forbidden'],
    ['mapped.test', 'media_url_forbidden'],
    ['translated.test', 'media_url_forbidden'],
    ['private.test', 'media_url_forbidden'],
    ['metadata.test', 'media_url_forbidden'],
    ['one-of-two.test', 'media_url_forbidden'],
    ['no-address.test', 'media_url_forbidden'],
    ['nothing.test', 'media_fetch_failed'],
  ])('cannot lead to an internal address by its name (%s)', async (name, code) => {
    const lookup = makeLookup()
    const given = { lookup, isForbidden: name === 'one-of-two.test' ? isForbidden : isForbiddenAddress }
    expect(await codeOf(`http://${name}:${port}/`, given)).toBe(code)
    expect(lookup.count).toBe(1)
  })

  test('cannot rebind its name to an internal address after the check', async () => {
    const lookup = makeLookup()
    const before = door.hits()
    expect(await codeOf(`http://rebound.test:${door.port}/again`, { lookup, isForbidden })).toBe(
      'media_url_forbidden',
    )
    // Once for the request, which went to the address that was looked at, and once for the redirect.
    expect({ lookups: lookup.count, hits: door.hits() - before }).toEqual({ lookups: 2, hits: 1 })
  })
})
