import { expect, test } from 'vitest'
import { parseProxyUrl, showProxy, writeProxy } from '../src/proxy-url.ts'

test.each([
  ['http://proxy.example.com:8080', 'http://proxy.example.com:8080', ['', '']],
  ['http://proxy.example.com:80/', 'http://proxy.example.com:80', ['', '']],
  ['http://shop:s%40cret@proxy.example.com:443', 'http://proxy.example.com:443', ['shop', 's@cret']],
  [
    `http://${'u'.repeat(256)}:p@proxy.example.com:8080`,
    'http://proxy.example.com:8080',
    ['u'.repeat(256), 'p'],
  ],
  ['socks5://shop:secret@192.0.2.7:1080', 'socks5://192.0.2.7:1080', ['shop', 'secret']],
  ['socks5://[2001:DB8::1]:1080', 'socks5://[2001:db8::1]:1080', ['', '']],
  // Other forms of an address become one, so that they can be judged.
  ['socks5://0x7f000001:1080', 'socks5://127.0.0.1:1080', ['', '']],
  ['http://2130706433:8080', 'http://127.0.0.1:8080', ['', '']],
])('%s is %s', (text, shown, credentials) => {
  const proxy = parseProxyUrl(text)
  expect(proxy && parseProxyUrl(writeProxy(proxy))).toEqual(proxy)
  expect(proxy && [showProxy(proxy), [proxy.username, proxy.password]]).toEqual([shown, credentials])
})

test.each([
  'proxy.example.com:8080',
  'http://proxy.example.com',
  'http://proxy.example.com:0',
  'http://proxy.example.com:99999',
  'https://proxy.example.com:443',
  'socks4://proxy.example.com:1080',
  'http://proxy.example.com:8080/path',
  'http://proxy.example.com:8080?query',
  'http://proxy.example.com:8080#fragment',
  'http://a b:8080',
  'http://:8080',
  'http://user:%ff@proxy.example.com:8080',
  'http://proxy.example.com:8080\nx',
  `socks5://${'u'.repeat(256)}:p@proxy.example.com:1080`,
  `socks5://u:${'%C3%A9'.repeat(128)}@proxy.example.com:1080`,
  '',
])('%j is none', (text) => {
  expect(parseProxyUrl(text)).toBeUndefined()
})
