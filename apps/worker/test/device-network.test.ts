import { randomBytes } from 'node:crypto'
import { type ProxyUrl, parseProxyUrl, proxyContext } from '@wagate/shared/proxy-url'
import { sealBox } from '@wagate/shared/sealed-box'
import { expect, test } from 'vitest'
import { type MasterKeys, readMasterKeys } from '../src/config/master-keys.ts'
import { networkOf } from '../src/device/device-network.ts'
import { proxyBoxKey } from '../src/session/network/proxy-box.ts'
import { WhatsAppRoute } from '../src/session/network/whatsapp-route.ts'

const url = 'socks5://shop:secret@proxy.example.com:1080'
const masterKeys = readMasterKeys(randomBytes(32))
const files = new WhatsAppRoute({})
const network = {
  direct: { socket: {}, files },
  through: (proxy: ProxyUrl) => ({
    socket: { browser: ['through', proxy.hostname, proxy.password] as [string, string, string] },
    files,
  }),
}
const of = (sealedProxy: Buffer | null, id = 7) =>
  networkOf({ whatsApp: { network }, config: { masterKeys } }, { id, accountId: 3, sealedProxy })

function seal(text: string, { current }: MasterKeys = masterKeys): Buffer {
  const recipient = { id: current.id, publicKey: proxyBoxKey(current).publicKey }
  return sealBox(recipient, Buffer.from(text), proxyContext(7))
}

test('a device goes through its own proxy, or directly without one', () => {
  expect(of(null)).toBe(network.direct)
  expect(of(seal(url))).toEqual(network.through(parseProxyUrl(url) as ProxyUrl))
})

test('a device whose proxy cannot be read does not connect', () => {
  expect(() => of(seal(url), 8)).toThrow()
  expect(() => of(seal(url, readMasterKeys(randomBytes(32))))).toThrow('another master key')
  expect(() => of(seal('proxy.example.com'))).toThrow('unknown format')
  expect(() => of(Buffer.alloc(0))).toThrow()
})
