import { describe, expect, test } from 'vitest'
import { clientNetwork, findClientAddress } from '../src/http/client-address.ts'

describe('the address of a client', () => {
  test.each([
    // Without a trusted proxy, the header is ignored.
    [0, '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    [0, '::ffff:203.0.113.9', undefined, '203.0.113.9'],
    // One proxy: its entry, at the right end.
    [1, '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    [1, '10.0.0.1', '1.1.1.1, 2.2.2.2, 198.51.100.1', '198.51.100.1'],
    [1, '10.0.0.1', '1.1.1.1,198.51.100.1:4711', '198.51.100.1'],
    [1, '10.0.0.1', '[2001:db8::1]:443', '2001:db8::1'],
    [1, '10.0.0.1', '2001:db8::1', '2001:db8::1'],
    // Two proxies: the entry of the outer one.
    [2, '10.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    // Fewer entries than proxies, or an invalid address.
    [2, '10.0.0.1', '198.51.100.1', '10.0.0.1'],
    [1, '10.0.0.1', undefined, '10.0.0.1'],
    [1, '10.0.0.1', '1.1.1.1, unknown', '10.0.0.1'],
    [1, '10.0.0.1', '1.1.1.1, ', '10.0.0.1'],
    // A Unix socket has no remote address.
    [0, undefined, '1.1.1.1', 'unknown'],
  ])('behind %i proxies, from %s with %s, is %s', (proxies, from, header, address) => {
    expect(findClientAddress(from, header, proxies)).toBe(address)
  })

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['2001:0db8:0000:0000:ffff::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['unknown', 'unknown'],
  ])('%s counts as %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network)
  })
})
