import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
import { parseProxyUrl } from '@wagate/shared/proxy-url'
import type { DeviceContext } from '../context.ts'
import type { SocketOptions } from '../session/connection/socket.ts'
import { openProxyBox } from '../session/network/proxy-box.ts'

/** Through its proxy, if it has one. Throws if that cannot be read: it never connects without it. */
export function networkOf(
  { network, masterKeys }: Pick<DeviceContext, 'network' | 'masterKeys'>,
  { id, accountId, sealedProxy }: Pick<DeviceState, 'id' | 'accountId' | 'sealedProxy'>,
): SocketOptions['network'] {
  if (sealedProxy === null) return network.direct
  const proxy = parseProxyUrl(openProxyBox(masterKeys, id, sealedProxy).toString())
  if (!proxy) throw new Error('A stored proxy has an unknown format')
  return network.through(proxy, accountId)
}
