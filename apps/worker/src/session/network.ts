import { lookup as systemLookup } from 'node:dns'
import { Agent } from 'node:https'
import { connect } from 'node:net'
import type { HostNames } from '@wagate/runtime/host-names'
import type { ProxyUrl } from '@wagate/shared/proxy-url'
import { isForbiddenAddress } from '@wagate/shared/public-hosts'
import type { AgentConnectOpts } from 'agent-base'
import { type UserFacingSocketConfig, WA_CERT_DETAILS } from 'baileys'
import type { Config } from '../config.ts'
import { makePublicLookup } from '../media/public-lookup.ts'
import { ProxyAgent } from './proxy-agent.ts'
import { DownloadRoute, isWhatsAppUrl } from './whatsapp-fetch.ts'

type SocketNetwork = Partial<UserFacingSocketConfig>

/** How sockets reach WhatsApp, as socket options. */
export type Network = {
  direct: SocketNetwork
  /** All that the socket sends and fetches goes through the proxy, or nowhere. */
  through(proxy: ProxyUrl, accountId: number): SocketNetwork
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
  const simulated: SocketNetwork = isLive
    ? {}
    : {
        ...(socketUrl && { waWebSocketUrl: socketUrl }),
        ...(mediaHost && { customUploadHosts: [{ hostname: mediaHost, maxContentLengthBytes: 2 ** 31 }] }),
      }
  const uploadAgent = isLive ? liveUploadAgent : mediaHost ? plainAgent(mediaHost) : undefined
  const uploadRoute = isLive ? toWhatsApp : mediaHost ? toHost(mediaHost) : undefined

  return {
    direct: {
      ...simulated,
      ...(uploadAgent && { fetchAgent: uploadAgent }),
      options: downloadsBy(new DownloadRoute(undefined)),
    },
    through(proxy, accountId) {
      const rules = { ...proxies, lookup: hostNames.ofOwner(String(accountId)) }
      const agent = new ProxyAgent(proxy, rules)
      return {
        ...simulated,
        agent,
        fetchAgent: new ProxyAgent(proxy, rules, uploadRoute),
        options: downloadsBy(new DownloadRoute(agent)),
      }
    },
  }
}

/** Baileys passes the dispatcher on to `fetch`, and knows it by the type of undici. */
function downloadsBy(dispatcher: DownloadRoute): NonNullable<SocketNetwork['options']> {
  return { dispatcher } as unknown as NonNullable<SocketNetwork['options']>
}

/** Uploads follow redirects, but still go only to WhatsApp's hosts at public addresses. */
const liveUploadAgent = new (class extends Agent {
  override createConnection(...[options, ...rest]: Parameters<Agent['createConnection']>) {
    const { host, port } = options as { host?: string; port?: number }
    refuseOthers(host, port)
    return super.createConnection(options, ...rest)
  }
})({ lookup: makePublicLookup(isForbiddenAddress, systemLookup) })

/** A proxy resolves the names. */
function toWhatsApp(target: AgentConnectOpts): AgentConnectOpts {
  refuseOthers(target.host, target.port)
  return target
}

function refuseOthers(host: string | undefined, port: number | undefined): void {
  if (!isWhatsAppUrl(new URL(`https://${host}:${port}`))) {
    throw new TypeError('Refused to upload to a host that is not one of WhatsApp')
  }
}

/** Baileys builds https:// upload addresses; the simulator takes them as plain HTTP on one port. */
function plainAgent(host: string): Agent {
  const { hostname, port } = new URL(`http://${host}`)
  return new (class extends Agent {
    override createConnection() {
      return connect(Number(port), hostname)
    }
  })()
}

function toHost(host: string) {
  const { hostname, port } = new URL(`http://${host}`)
  return (): AgentConnectOpts => ({ host: hostname, port: Number(port), secureEndpoint: false })
}
