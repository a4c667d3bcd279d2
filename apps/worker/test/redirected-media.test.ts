import type { RequestListener } from 'node:http'
import type { LookupFunction } from 'node:net'
import { isForbiddenAddress } from '@wagate/shared/public-hosts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type InternalHosts, openInternalHosts } from './internal-hosts.ts'
import { type MediaHost, openMediaHost } from './media-host.ts'

/** The address of a server of this machine that counts as a public one in these tests. */
const publicAddress = '::1'
let publicHost: MediaHost
let internal: InternalHosts

const redirect =
  (to: () => string, status = 302): RequestListener =>
  (_, response) =>
    response.writeHead(status, { location: to() }).end()

/** The answers of the public server. Most of them try to lead the worker to an internal one. */
const pages: Record<string, RequestListener> = {
  '/to-address': redirect(() => `http://127.0.0.1:${internal.port}/`),
  '/to-name': redirect(() => `http://localhost:${internal.port}/`),
  '/to-number': redirect(() => `http://2130706433:${internal.port}/`),
  '/to-mapped': redirect(() => `http://[::ffff:127.0.0.1]:${internal.port}/`),
  '/to-any': redirect(() => `http://0.0.0.0:${internal.port}/`),
  '/without-scheme': redirect(() => `//127.0.0.1:${internal.port}/`),
  '/permanently': redirect(() => `http://127.0.0.1:${internal.port}/`, 301),
  '/see-other': redirect(() => `http://127.0.0.1:${internal.port}/`, 303),
  '/temporarily': redirect(() => `http://127.0.0.1:${internal.port}/`, 307),
  '/for-good': redirect(() => `http://127.0.0.1:${internal.port}/`, 308),
  '/multiple-choices': redirect(() => `http://127.0.0.1:${internal.port}/`, 300),
  '/twice': redirect(() => '/to-address'),
  '/to-metadata': redirect(() => 'http://169.254.169.254/latest/meta-data/'),
  '/to-user': redirect(() => `http://a:b@127.0.0.1:${internal.port}/`),
  '/to-file': redirect(() => 'file:///etc/passwd'),
  '/to-ftp': redirect(() => `ftp://127.0.0.1:${internal.port}/`),
  '/to-gopher': redirect(() => `gopher://127.0.0.1:${internal.port}/_GET%20/`),
  '/to-data': redirect(() => 'data:image/png;base64,AAAA'),
  '/to-https': redirect(() => `https://127.0.0.1:${internal.port}/`),
  '/circle': redirect(() => '/circle'),
  '/four': redirect(() => '/three'),
  '/three': redirect(() => '/two'),
  '/two': redirect(() => '/one'),
  '/one': redirect(() => `http://127.0.0.1:${internal.port}/`),
  '/nowhere': redirect(() => 'http://'),
  '/again': redirect(() => `http://rebound.test:${internal.port}/`),
}

/** Names and the addresses they resolve to: the first time, the second time, and so on. */
const names: Record<string, string[][]> = {
  'loopback.test': [['127.0.0.1']],
  'loopback-v6.test': [['0:0:0:0:0:0:0:1']],
  'mapped.test': [['::ffff:127.0.0.1']],
  'translated.test': [['::ffff:0:127.0.0.1']],
  'private.test': [['10.0.0.1']],
  'metadata.test': [['169.254.169.254']],
  'one-of-two.test': [[publicAddress, '127.0.0.1']],
  'no-address.test': [['nonsense']],
  'nothing.test': [[]],
  // DNS rebinding: public when it is checked, private when it is connected to.
  'rebound.test': [[publicAddress], ['127.0.0.1']],
}

function makeLookup(): LookupFunction & { count: number } {
  const lookup: LookupFunction & { count: number } = (name, options, callback) => {
    const answers = names[name]
    if (!answers) throw new Error(`Unknown name: ${name}`)
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
  internal = await openInternalHosts()
  publicHost = await openMediaHost(pages, { address: publicAddress })
})
afterAll(() => {
  internal.close()
  publicHost.close()
})

describe('a public server', () => {
  const isForbidden = (address: string) => address !== publicAddress && isForbiddenAddress(address)

  test.each([
    ['/to-address', 'media_url_forbidden'],
    ['/to-name', 'media_fetch_failed'],
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
    const before = publicHost.hits()
    expect(await internal.codeOf(publicHost.origin + path, { isForbidden })).toBe(code)
    expect(publicHost.hits()).toBeGreaterThan(before)
  })

  test.each([
    'loopback.test',
    'loopback-v6.test',
    'mapped.test',
    'translated.test',
    'private.test',
    'metadata.test',
    'one-of-two.test',
    'no-address.test',
    'nothing.test',
  ])('cannot lead to an internal address by its name, and fails like a missing one (%s)', async (name) => {
    const lookup = makeLookup()
    const given = {
      lookup: () => lookup,
      isForbidden: name === 'one-of-two.test' ? isForbidden : isForbiddenAddress,
    }
    expect(await internal.codeOf(`http://${name}:${internal.port}/`, given)).toBe('media_fetch_failed')
    expect(lookup.count).toBe(1)
  })

  test('cannot rebind its name to an internal address after the check', async () => {
    const lookup = makeLookup()
    const before = publicHost.hits()
    expect(
      await internal.codeOf(`http://rebound.test:${publicHost.port}/again`, {
        lookup: () => lookup,
        isForbidden,
      }),
    ).toBe('media_fetch_failed')
    // Once for the request, which went to the address that was checked, and once for the redirect.
    expect({ lookups: lookup.count, hits: publicHost.hits() - before }).toEqual({ lookups: 2, hits: 1 })
  })
})
