import { expect, test } from 'vitest'
import { isForbiddenAddress, isForbiddenHost } from '../src/public-hosts.ts'

test.each([
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['168.63.129.16', '168.63.129.16'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['224.0.0.0', '255.255.255.255'],
  ['::', '1fff:ffff::'],
  ['2001::', '2001:1ff::'],
  ['2001:db8::', '2001:db8:ffff::'],
  ['2002::', '2002:ffff::'],
  ['3fff::', '3fff:fff::'],
  ['4000::', 'ffff:ffff::'],
])('addresses from %s to %s are forbidden', (first, last) => {
  expect([first, last].map(isForbiddenAddress)).toEqual([true, true])
})

test.each([
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '223.255.255.255',
  '2001:4860:4860::8888',
  '2003::1',
  '2606:4700::1111',
  '3ffe::1',
])('%s is public', (address) => {
  expect(isForbiddenAddress(address)).toBe(false)
})

test.each(['', 'example.com', '1.2.3', '1.2.3.4.5', '127.0.0.1\0', 'fe80::1%eth0'])(
  '%j is no public address',
  (text) => {
    expect(isForbiddenAddress(text)).toBe(true)
  },
)

test.each([
  ['[::1]', true],
  ['127.0.0.1', true],
  ['localhost', true],
  ['localhost.', true],
  ['a.b.localhost', true],
  ['[2606:4700::1111]', false],
  ['localhost.example.com', false],
  ['notlocalhost', false],
])('as a host, %s is forbidden: %s', (host, isForbidden) => {
  expect(isForbiddenHost(host)).toBe(isForbidden)
})
