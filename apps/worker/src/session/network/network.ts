import type { HostNames } from '@wagate/runtime/host-names'
import type { ProxyUrl } from '@wagate/shared/proxy-url'
import { type UserFacingSocketConfig, WA_CERT_DETAILS } from 'baileys'
import type { Config } from '../../config/config.ts'
import { ProxyAgent } from './proxy-agent.ts'
import { WhatsAppRoute } from './whatsapp-route.ts'

/** How one sender reaches WhatsApp. */
export type SenderNetwork = {
  /** For its connection, as options of a socket. */
  socket: Partial<UserFacingSocketConfig>
  /** For files that it uploads and downloads. */
  files: WhatsAppRoute
}

export type Network = {
  direct: SenderNetwork
  /** All that the sender sends and fetches goes through the proxy, or nowhere. */
  through(proxy: ProxyUrl, accountId: number): SenderNetwork
}

/**
 * Which WhatsApp network this process speaks to. For the simulator it also replaces the trust anchor of the handshake
 * (the verification stays on), so a process is either live or simulated.
 */
export function chooseNetwork(
  { whatsApp, proxies }: Pick<Config, 'whatsApp' | 'proxies'>,
  hostNames: HostNames,
): Network {
  const { mediaHost, network, rootKey, socketUrl } = whatsApp
  const isLive = network === 'live'
  if (!isLive && rootKey) WA_CERT_DETAILS.PUBLIC_KEY = rootKey
  const simulatedHost = isLive ? undefined : mediaHost
  const socket = !isLive && socketUrl ? { waWebSocketUrl: socketUrl } : {}

  return {
    direct: { socket, files: new WhatsAppRoute({ simulatedHost }) },
    through(proxy, accountId) {
      const agent = new ProxyAgent(proxy, { ...proxies, lookup: hostNames.ofOwner(String(accountId)) })
      return { socket: { ...socket, agent }, files: new WhatsAppRoute({ agent, simulatedHost }) }
    },
  }
}
