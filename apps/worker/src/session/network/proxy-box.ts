import { hkdfSync } from 'node:crypto'
import { proxyContext } from '@wagate/shared/proxy-url'
import { type BoxKey, keyIdOf, makeBoxKey } from '@wagate/shared/sealed-box'
import { webhookSecretContext } from '@wagate/shared/webhook-signature'
import type { MasterKey, MasterKeys } from '../../config/master-keys.ts'

/**
 * The key that opens the proxies and the secrets of webhooks which the API has sealed. It follows from a master key, which
 * only workers have.
 */
export function proxyBoxKey({ bytes }: MasterKey): BoxKey {
  return makeBoxKey(Buffer.from(hkdfSync('sha256', bytes, Buffer.alloc(0), 'wagate proxies', 32)))
}

/** Returns the URL. Throws when the box was changed or moved, or was sealed for an unknown master key. */
export function openProxyBox(masterKeys: MasterKeys, deviceId: number, sealed: Buffer): Buffer {
  return openBox(masterKeys, sealed, { what: 'proxy', context: proxyContext(deviceId) })
}

/** Returns the secret. Throws as `openProxyBox`. */
export function openWebhookSecret(masterKeys: MasterKeys, webhookId: number, sealed: Buffer): Buffer {
  return openBox(masterKeys, sealed, { what: 'webhook secret', context: webhookSecretContext(webhookId) })
}

function openBox({ all }: MasterKeys, sealed: Buffer, { what, context }: { what: string; context: string }) {
  const id = keyIdOf(sealed)
  const masterKey = all.get(id)
  if (!masterKey) throw new Error(`A stored ${what} was encrypted for another master key (${id})`)
  return proxyBoxKey(masterKey).open(sealed, context)
}
