import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
import { parseProxyUrl } from '@wagate/shared/proxy-url'
import type { SocketOptions } from '../session/connection/socket.ts'
import { openProxyBox } from '../session/network/proxy-box.ts'
import type { DeviceContext } from './device-context.ts'

type NetworkContext = {
  whatsApp: Pick<DeviceContext['whatsApp'], 'network'>
  config: Pick<DeviceContext['config'], 'masterKeys'>
}

/** Through its proxy, if it has one. Throws if that cannot be read: it never connects without it. */
export function networkOf(
  { whatsApp: { network }, config: { masterKeys } }: NetworkContext,
  { id, accountId, sealedProxy }: Pick<DeviceState, 'id' | 'accountId' | 'sealedProxy'>,
): SocketOptions['network'] {
  if (sealedProxy === null) return network.direct
  const proxy = parseProxyUrl(openProxyBox(masterKeys, id, sealedProxy).toString())
  if (!proxy) throw new Error('A stored proxy has an unknown format')
  return network.through(proxy, accountId)
}
