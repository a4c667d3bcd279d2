import { findProxyKey } from '@wagate/db/queries/credentials/master-keys'
import type { DeviceProxy } from '@wagate/db/queries/devices/device-proxies'
import { type ProxyUrl, proxyContext, showProxy, writeProxy } from '@wagate/shared/proxy-url'
import { isForbiddenHost } from '@wagate/shared/public-hosts'
import { sealBox } from '@wagate/shared/sealed-box'
import type { Call } from '../call.ts'
import { AppError } from '../errors/app-error.ts'

/** Encrypts a proxy so that only workers can read it. Throws `invalid_parameter` or `unavailable`. */
export async function sealProxy(
  { context: { db, config } }: Call,
  deviceId: number,
  proxy: ProxyUrl,
): Promise<DeviceProxy> {
  if (!config.proxies.allowsPrivateHosts && isForbiddenHost(proxy.hostname)) {
    const message = 'must have a public address'
    throw new AppError('invalid_parameter', `proxy ${message}.`, {
      details: [{ parameter: 'proxy', message }],
    })
  }
  const key = await findProxyKey(db)
  if (!key) {
    throw new AppError('unavailable', 'No worker has started yet, so a proxy cannot be stored.', {
      retryAfterSeconds: 5,
    })
  }
  const recipient = { id: key.masterKeyId, publicKey: key.publicKey }
  const sealed = sealBox(recipient, Buffer.from(writeProxy(proxy)), proxyContext(deviceId))
  return { shown: showProxy(proxy), sealed }
}
