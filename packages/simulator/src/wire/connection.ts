import type { proto } from 'baileys'
import type { WebSocket } from 'ws'
import type { ServerCertificate } from './certificate.ts'
import type { Dictionary } from './dictionary.ts'
import { FrameReader, frame, type Intro } from './frames.ts'
import type { Node } from './node.ts'
import { NoiseResponder, type Transport } from './noise.ts'

export type ConnectionEvents = {
  onClient: (connection: Connection, payload: proto.IClientPayload, clientKey: Buffer) => void
  onNode: (connection: Connection, node: Node) => void
  onClose: (connection: Connection) => void
  /** The client broke the protocol, or the simulator has a bug. The connection is cut in both cases. */
  onFailure: (connection: Connection, error: unknown) => void
  /** How long to wait before reading the next stanza of this size from this client. */
  readDelayMs: (connection: Connection, bytes: number) => number
}

/**
 * From the end of the handshake to the first stanza. Baileys before 7.0.0-rc10 computes its keys meanwhile, and cannot
 * decrypt what a server on the same machine sends at once.
 */
const loginMs = 30

let connectionsMade = 0

/** One WebSocket of a client: handshake, then stanzas in both directions. */
export class Connection {
  readonly id = ++connectionsMade
  readonly #socket: WebSocket
  readonly #events: ConnectionEvents
  readonly #noise: NoiseResponder
  readonly #frames = new FrameReader()
  #halfOpen = false
  #phase: 'hello' | 'finish' | 'open' | 'closed' = 'hello'
  #transport: Transport | undefined
  #unread: Buffer[] = []
  #unsent: Buffer[] = []
  #reading = false

  constructor(socket: WebSocket, certificate: ServerCertificate, events: ConnectionEvents) {
    this.#socket = socket
    this.#events = events
    this.#noise = new NoiseResponder(certificate)
    socket.on('message', (data) => this.#receive(data as Buffer))
    socket.on('error', () => this.terminate())
    socket.on('close', () => this.#closed())
  }

  get closed(): boolean {
    return this.#phase === 'closed'
  }

  get halfOpen(): boolean {
    return this.#halfOpen
  }

  /** Stops reading and writing while TCP stays up, without even a closing handshake. */
  goHalfOpen(): void {
    this.#halfOpen = true
    this.#socket.pause()
  }

  send(node: Node): void {
    const dictionary = this.#frames.intro?.dictionary
    if (!this.#transport || !dictionary || this.#halfOpen || this.closed) return
    this.#unsent.push(frame(this.#transport.encrypt(dictionary.encode(node))))
    if (this.#unsent.length === 1) setImmediate(() => this.#flush())
  }

  /** Ends the stream in order: everything sent before still arrives. */
  close(): void {
    this.#flush()
    this.#socket.close()
    this.#closed()
  }

  /** Cuts the connection without a closing handshake. */
  terminate(): void {
    this.#socket.terminate()
    this.#closed()
  }

  /** Stanzas that are sent together, such as an ack and its receipt, leave as one WebSocket message. */
  #flush(): void {
    const [first, ...more] = this.#unsent
    if (!first || this.#halfOpen || this.closed) return
    this.#unsent = []
    this.#socket.send(more.length === 0 ? first : Buffer.concat([first, ...more]))
  }

  #receive(data: Buffer): void {
    if (this.closed || this.#halfOpen) return
    try {
      for (const body of this.#frames.push(data)) {
        if (this.#frames.intro) this.#receiveFrame(body, this.#frames.intro)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  #receiveFrame(body: Buffer, { bytes, dictionary }: Intro): void {
    if (this.#phase === 'hello') {
      this.#phase = 'finish'
      this.#socket.send(frame(this.#noise.answerHello(body, bytes)))
    } else if (this.#phase === 'finish') {
      const { clientKey, payload, transport } = this.#noise.finish(body)
      this.#transport = transport
      this.#phase = 'open'
      this.#reading = true
      setTimeout(() => this.#admit(payload, clientKey, dictionary), loginMs)
    } else if (this.#transport) {
      this.#unread.push(this.#transport.decrypt(body))
      if (!this.#reading) void this.#read(dictionary)
    }
  }

  #admit(payload: proto.IClientPayload, clientKey: Buffer, dictionary: Dictionary): void {
    if (this.closed) return
    try {
      this.#events.onClient(this, payload, clientKey)
      void this.#read(dictionary)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #read(dictionary: Dictionary): Promise<void> {
    this.#reading = true
    try {
      for (let next = this.#unread.shift(); next && !this.closed; next = this.#unread.shift()) {
        const delayMs = this.#events.readDelayMs(this, next.length)
        if (delayMs > 0) await this.#stall(delayMs)
        const stanza = await dictionary.decode(next)
        if (!this.#halfOpen && !this.closed) this.#events.onNode(this, stanza)
      }
    } catch (error) {
      this.#fail(error)
    }
    this.#reading = false
  }

  #fail(error: unknown): void {
    this.#events.onFailure(this, error)
    this.terminate()
  }

  /** A slow reader stops taking bytes from TCP, so the client feels it as back-pressure. */
  async #stall(delayMs: number): Promise<void> {
    this.#socket.pause()
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    if (!this.#halfOpen) this.#socket.resume()
  }

  #closed(): void {
    if (this.closed) return
    this.#phase = 'closed'
    this.#unread = []
    this.#unsent = []
    this.#events.onClose(this)
  }
}
