import type { LookupAddress, LookupAllOptions } from 'node:dns'
import { setMaxListeners } from 'node:events'
import { readdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { type DnsAnswer, type DnsServer, startDnsServer } from '@wagate/test-kit/dns-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HostNames, makeHostNames } from '../src/host-names.ts'
import { parseHosts, parseSearchDomains } from '../src/system-names.ts'

let dns: DnsServer
const answers: Record<string, DnsAnswer> = {
  'both.example': ['2001:db8::1', '192.0.2.1', '192.0.2.2'],
  'six.example': ['2001:db8::6'],
  'none.example': [],
  'missing.example': 'missing',
  'failing.example': 'failing',
  'many.example': Array.from({ length: 25 }, (_, index) => `192.0.2.${index}`),
}
const isSilent = (name: string) => name.endsWith('.silent.example')
beforeAll(async () => {
  dns = await startDnsServer((name) => (isSilent(name) ? 'silent' : (answers[name] ?? 'missing')))
})
afterAll(() => dns.close())

type Options = { owner?: string; signal?: AbortSignal; family?: 4 | 6 }
const inTime = new AbortController().signal
setMaxListeners(0, inTime)

/** The addresses, or the code of the error. */
function find(names: HostNames, name: string, { owner = 'one', signal = inTime, family }: Options = {}) {
  const options: LookupAllOptions = { all: true, ...(family && { family }) }
  return new Promise<string[] | string | undefined>((resolve) => {
    names.ofOwner(owner)(signal)(name, options, (error, found) =>
      resolve(error ? error.code : (found as LookupAddress[]).map(({ address }) => address)),
    )
  })
}
const open = (limits = {}) => makeHostNames({ servers: [dns.address], ...limits })
const silentNames = (count: number, word: string) =>
  Array.from({ length: count }, (_, index) => `${word}${index}.silent.example`)
const silentlyAsked = (word: string) =>
  [...dns.asked].filter((name) => name.startsWith(word) && isSilent(name)).length

describe('a name', () => {
  test.each([
    ['both.example', ['192.0.2.1', '192.0.2.2', '2001:db8::1']],
    ['Both.Example', ['192.0.2.1', '192.0.2.2', '2001:db8::1']],
    ['both.example.', ['192.0.2.1', '192.0.2.2', '2001:db8::1']],
    ['six.example', ['2001:db8::6']],
    ['none.example', 'ENOTFOUND'],
    ['missing.example', 'ENOTFOUND'],
    ['failing.example', 'EAI_AGAIN'],
    [`${'a'.repeat(64)}.example`, 'ENOTFOUND'],
    ['a..example', 'ENOTFOUND'],
  ])('%s has these addresses: %s', async (name, expected) => {
    expect(await find(open(), name)).toEqual(expected)
  })

  test('is looked up in one family if only that is wanted, and then as one address', async () => {
    expect(await find(open(), 'both.example', { family: 6 })).toEqual(['2001:db8::1'])
    const one = new Promise((resolve) => {
      const lookup = open().ofOwner('one')(inTime)
      lookup('both.example', {}, (error, address, family) => resolve([error, address, family]))
    })
    expect(await one).toEqual([null, '192.0.2.1', 4])
  })

  test('has no more addresses than a connection would try', async () => {
    expect(await find(open(), 'many.example')).toHaveLength(8)
  })

  test.each(['localhost', 'a.localhost', hostname()])(
    'of this machine is asked of no server (%s)',
    async (name) => {
      expect(await find(open(), name)).toContain('127.0.0.1')
      expect(dns.asked).not.toContain(name)
    },
  )
})

test('a name whose server is silent is given up at the deadline', async () => {
  expect(await find(open({ deadlineMs: 50 }), 'late.silent.example')).toBe('EAI_AGAIN')
})

test('a thousand silent names of one owner keep no name of another owner waiting', async () => {
  const names = open({ lookupsOfOwnerMax: 20, deadlineMs: 60_000 })
  const ending = new AbortController()
  const { signal } = ending
  setMaxListeners(0, signal)
  const given = { owner: 'hostile', signal }
  const silent = Promise.all(silentNames(1000, 'w').map((name) => find(names, name, given)))
  for (let count = 0; count < 50; count++)
    expect(await find(names, 'both.example', { owner: 'honest' })).toHaveLength(3)
  // Nothing was given up meanwhile.
  await expect.poll(() => silentlyAsked('w')).toBe(20)
  ending.abort()
  expect(new Set(await silent)).toEqual(new Set(['EAI_AGAIN']))
})

test('a canceled look-up gives its place to the next at once, and leaves nothing behind', async () => {
  const names = open({ lookupsMax: 4, lookupsOfOwnerMax: 4, deadlineMs: 60_000 })
  const openFiles = () => readdirSync('/dev/fd').length
  const before = openFiles()
  const ending = new AbortController()
  const silent = silentNames(4, 'c').map((name) => find(names, name, { signal: ending.signal }))
  await expect.poll(() => silentlyAsked('c')).toBe(4)
  expect(openFiles()).toBeGreaterThan(before)
  const requests = dns.requests()
  const waiting = find(names, 'both.example')
  ending.abort()
  expect(await waiting).toHaveLength(3)
  // No silent server was asked again, which would have been the end of its look-up.
  expect(dns.requests() - requests).toBeLessThan(8)
  expect(await Promise.all(silent)).toEqual(Array(4).fill('EAI_AGAIN'))
  await expect.poll(openFiles).toBe(before)
})

test('files of the system are read as the system reads them', () => {
  const hosts = parseHosts(
    '127.0.0.1 localhost\n::1 localhost # both\n# 10.0.0.1 no\n10.0.0.2\tMinio minio.a\nx y',
  )
  expect(
    Object.fromEntries([...hosts].map(([name, found]) => [name, found.map((each) => each.address)])),
  ).toEqual({
    localhost: ['127.0.0.1', '::1'],
    minio: ['10.0.0.2'],
    'minio.a': ['10.0.0.2'],
  })
  const text =
    'domain old\nnameserver 127.0.0.11\nsearch default.svc.cluster.local svc.cluster.local. .\noptions ndots:5'
  expect(parseSearchDomains(text)).toEqual(['default.svc.cluster.local', 'svc.cluster.local'])
  expect(parseSearchDomains('')).toEqual([])
})
