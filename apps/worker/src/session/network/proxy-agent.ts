import type { ClientRequest } from 'node:http'
import { isIP, isIPv6, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import { DeadlineExceeded, startDeadline } from '@wagate/runtime/deadline'
import type { MakeLookup } from '@wagate/runtime/host-names'
import { openTunnel } from '@wagate/runtime/http-client'
import type { ProxyUrl } from '@wagate/shared/proxy-url'
import { isForbiddenAddress, isForbiddenHost } from '@wagate/shared/public-hosts'
import { Agent, type AgentConnectOpts } from 'agent-base'
import { SocksProxyAgent } from 'socks-proxy-agent'
import { makePublicLookup } from './public-lookup.ts'

/**
 * The proxy of a sender gave no connection. `detail`: the HTTP status with which it refused, the code of a system error,
 * `timeout` or `forbidden_address`, if known. It has nothing that the proxy said: that is for nobody's eyes.
 */
export class ProxyError extends Error {
  readonly detail: string | null
  constructor(detail: string | null) {
    super('The proxy gave no connection')
    this.detail = detail
  }
}

export type ProxyRules = {
  /** Until the proxy has connected. */
  deadlineMs: number
  allowsPrivateHosts: boolean
  /** Of the proxy's own name. */
  lookup: MakeLookup
}

/** Opens every connection through one proxy, or none. The proxy resolves the names of what is behind it. */
export class ProxyAgent extends Agent {
  // Private, so that no log can show the password.
  readonly #proxy: ProxyUrl
  readonly #rules: ProxyRules

  constructor(proxy: ProxyUrl, rules: ProxyRules) {
    super()
    this.#proxy = proxy
    this.#rules = rules
  }

  override async connect(request: ClientRequest, target: AgentConnectOpts): Promise<Duplex> {
    // A written address is not looked up.
    if (!this.#rules.allowsPrivateHosts && isForbiddenHost(this.#proxy.hostname)) {
      throw new ProxyError('forbidden_address')
    }
    const { deadlineMs } = this.#rules
    const { signal, bound, release } = startDeadline(deadlineMs)
    const opening = { request, target, signal, deadlineMs, lookup: this.#lookup() }
    const open = this.#proxy.protocol === 'http' ? openHttp : openSocks
    try {
      return await bound(open(this.#proxy, opening), (late) => late.destroy())
    } catch (error) {
      throw error instanceof ProxyError ? error : new ProxyError(detailOf(error))
    } finally {
      release()
    }
  }

  #lookup(): MakeLookup {
    const { allowsPrivateHosts, lookup } = this.#rules
    return allowsPrivateHosts ? lookup : (signal) => makePublicLookup(isForbiddenAddress, lookup(signal))
  }
}

type Opening = {
  request: ClientRequest
  target: AgentConnectOpts
  lookup: MakeLookup
  signal: AbortSignal
  deadlineMs: number
}

async function openHttp(
  { hostname, port, username, password }: ProxyUrl,
  { target, ...limits }: Opening,
): Promise<Duplex> {
  const authority = `${isIPv6(target.host ?? '') ? `[${target.host}]` : target.host}:${target.port}`
  const credentials = `${username}:${password}`
  const headers = {
    host: authority,
    ...(credentials !== ':' && {
      'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
    }),
  }
  const host = withoutBrackets(hostname)
  const { answer, socket, head } = await openTunnel({ host, port, authority, headers }, limits)
  if (answer.statusCode !== 200) {
    socket.destroy()
    throw new ProxyError(String(answer.statusCode))
  }
  // Of the target, and not part of the answer.
  if (head.length > 0) socket.unshift(head)
  return target.secureEndpoint ? startTls(socket, target) : socket
}

function startTls(socket: Socket, target: AgentConnectOpts): Duplex {
  const { host = '' } = target
  // The certificate must be for the host. A name is also sent, which an address may not be.
  return tls.connect({ ...target, path: undefined, socket, ...(isIP(host) === 0 && { servername: host }) })
}

function openSocks(
  { hostname, port, username, password }: ProxyUrl,
  { request, target, lookup, signal, deadlineMs }: Opening,
): Promise<Duplex> {
  // socks5h: the proxy resolves names.
  const url = new URL(`socks5h://${hostname}:${port}`)
  url.username = encodeURIComponent(username)
  url.password = encodeURIComponent(password)
  const agent = new SocksProxyAgent(url, { timeout: deadlineMs, socketOptions: { lookup: lookup(signal) } })
  // It keeps the brackets of an IPv6 address.
  agent.proxy.host = withoutBrackets(hostname)
  return agent.connect(request, target)
}

const withoutBrackets = (host: string) => host.replace(/^\[|\]$/g, '')

function detailOf(error: unknown): string | null {
  if (error instanceof DeadlineExceeded) return 'timeout'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,31}$/.test(code) ? code : null
}
