import { Agent } from 'node:https'
import { connect } from 'node:net'

/** What `startSimulator` returns and the first line of the command contains. */
export type SimulatedNetwork = { socketUrl: string; rootKey: string; mediaHost: string }

export type SocketOptions = {
  waWebSocketUrl: string
  /** For uploads. */
  fetchAgent: MediaAgent
  /** For downloads. Versions before 7 use axios and its `httpsAgent`, later ones `fetch` and its `dispatcher`. */
  options: object
}

/**
 * Options for `makeWASocket` of any Baileys since 6.7. `certDetails` is `WA_CERT_DETAILS` of that Baileys: from now on
 * this process accepts the certificate of the simulated network instead of WhatsApp's.
 */
export function socketOptions(
  network: SimulatedNetwork,
  certDetails: { PUBLIC_KEY?: Uint8Array },
): SocketOptions {
  certDetails.PUBLIC_KEY = Buffer.from(network.rootKey, 'base64')
  const agent = new MediaAgent(network.mediaHost)
  return {
    waWebSocketUrl: network.socketUrl,
    fetchAgent: agent,
    options: { httpsAgent: agent, dispatcher: agent },
  }
}

type Dispatch = (options: { origin?: string | URL }, handler: unknown) => boolean

/**
 * Takes every media request to the simulator, in plain HTTP: Baileys puts https:// in front of the media host. It is an
 * agent of node:https, and a dispatcher for the versions that upload with `fetch`.
 */
export class MediaAgent extends Agent {
  readonly #origin: URL

  constructor(mediaHost: string) {
    super()
    this.#origin = new URL(`http://${mediaHost}`)
  }

  override createConnection() {
    return connect(Number(this.#origin.port), this.#origin.hostname)
  }

  dispatch(...[options, handler]: Parameters<Dispatch>): boolean {
    // The dispatcher of Node's own fetch, which has set it by now.
    const node = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1')) as {
      dispatch: Dispatch
    }
    return node.dispatch({ ...options, origin: this.#origin.origin }, handler)
  }
}
