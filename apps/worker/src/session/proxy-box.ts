import { hkdfSync } from 'node:crypto'
import { proxyContext } from '@wagate/shared/proxy-url'
import { type BoxKey, keyIdOf, makeBoxKey } from '@wagate/shared/sealed-box'
import type { MasterKey, MasterKeys } from './master-keys.ts'

/** The key that opens the proxies which the API has sealed. It follows from a master key, which only workers have. */
export function proxyBoxKey({ bytes }: MasterKey): BoxKey {
  return makeBoxKey(Buffer.from(hkdfSync('sha256', bytes, Buffer.alloc(0), 'wagate proxies', 32)))
}

/** Returns the URL. Throws when the box was changed or moved, or was sealed for an unknown master key. */
export function openProxyBox({ all }: MasterKeys, deviceId: number, sealed: Buffer): Buffer {
  const id = keyIdOf(sealed)
  const masterKey = all.get(id)
  if (!masterKey) throw new Error(`A stored proxy was encrypted for another master key (${id})`)
  return proxyBoxKey(masterKey).open(sealed, proxyContext(deviceId))
}
