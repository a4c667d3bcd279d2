import { Agent } from 'node:https'
import { connect } from 'node:net'
import { isForbiddenAddress } from '@wagate/shared/public-hosts'
import { DEFAULT_CONNECTION_CONFIG, type UserFacingSocketConfig, WA_CERT_DETAILS } from 'baileys'
import type { Config } from '../config.ts'
import { makePublicLookup } from '../media/public-lookup.ts'
import { isWhatsAppUrl } from './whatsapp-fetch.ts'

/**
 * Which WhatsApp network this process speaks to, as socket options. For the simulator it also replaces
 * the trust anchor of the handshake (the verification stays on), so a process is either live or simulated.
 */
export function chooseNetwork({
  mediaHost,
  network,
  rootKey,
  socketUrl,
  version,
}: Config['whatsApp']): Partial<UserFacingSocketConfig> {
  const [major, minor, patch] = version?.split('.').map(Number) ?? []
  const common: Partial<UserFacingSocketConfig> =
    major !== undefined && minor !== undefined && patch !== undefined
      ? { version: [major, minor, patch] }
      : {}
  if (network === 'live') return { ...common, fetchAgent: uploadAgent }

  if (rootKey) WA_CERT_DETAILS.PUBLIC_KEY = rootKey
  return {
    ...common,
    ...(socketUrl && { waWebSocketUrl: socketUrl }),
    ...(mediaHost && {
      fetchAgent: plainAgent(mediaHost),
      customUploadHosts: [{ hostname: mediaHost, maxContentLengthBytes: 2 ** 31 }],
    }),
  }
}

/** The version of WhatsApp's web client that WhatsApp is told. */
export function clientVersionOf({ version }: Partial<UserFacingSocketConfig>): string {
  return (version ?? DEFAULT_CONNECTION_CONFIG.version).join('.')
}

/** Uploads follow redirects, but still go only to WhatsApp's hosts at public addresses. */
const uploadAgent = new (class extends Agent {
  override createConnection(...[options, ...rest]: Parameters<Agent['createConnection']>) {
    const { host, port } = options as { host?: string; port?: number }
    if (!isWhatsAppUrl(new URL(`https://${host}:${port}`))) {
      throw new TypeError('Refused to upload to a host that is not one of WhatsApp')
    }
    return super.createConnection(options, ...rest)
  }
})({ lookup: makePublicLookup(isForbiddenAddress) })

/** Baileys builds https:// upload addresses; the simulator takes them as plain HTTP on one port. */
function plainAgent(host: string): Agent {
  const { hostname, port } = new URL(`http://${host}`)
  return new (class extends Agent {
    override createConnection() {
      return connect(Number(port), hostname)
    }
  })()
}
