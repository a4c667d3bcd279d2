import { hostname } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type InternalHosts, openInternalHosts } from './internal-hosts.ts'

let internal: InternalHosts
beforeAll(async () => {
  internal = await openInternalHosts()
})
afterAll(() => internal.close())

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
    // credentials, which the host would see
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
    expect(await internal.codeOf(url.replace('PORT', String(internal.port)))).toBe('media_url_forbidden')
  })

  test.each([
    // names of this machine, of which some systems know others
    'http://localhost:PORT/',
    'http://LOCALHOST:PORT/',
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
    const code = await internal.codeOf(url.replace('PORT', String(internal.port)))
    expect(['media_url_forbidden', 'media_fetch_failed']).toContain(code)
  })
})
