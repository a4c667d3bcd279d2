import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export type TcpProxy = {
  url: string
  /** Refuses and resets connections, as if the server had ended. */
  cut(): void
  /** Keeps connections open and passes nothing, like a frozen server or a silent partition. */
  freeze(): void
  /** Delays everything, in its order, and resets some connections. */
  worsen(weather: Weather): void
  heal(): void
  /** Ends a partition that outlived the connections: open ones stay silent, new ones work. */
  forget(): void
  close(): Promise<void>
}

/** `resetShare` of the pieces of data, from 0 to 1, that end their connection instead of passing. */
type Weather = { latencyMs: number; jitterMs: number; resetShare: number }

/** `connection` counts from 1. */
type Origin = { connection: number; isAnswer: boolean }

type Options = {
  random?: () => number
  /** To listen at; a free one by default. */
  port?: number
  /** Called with the data of both directions. */
  onData?(chunk: Buffer): void
  /** Delays this data, and all later data in its direction, until it resolves. */
  hold?(chunk: Buffer, from: Origin): Promise<unknown> | undefined
  /** Passes this data, resets the connection from which it came, and lets the other side go on with what it has. */
  endsAfter?(chunk: Buffer, from: Origin): boolean
}

/** A proxy in front of a real server that can fail like a network. */
export async function startTcpProxy(
  target: string,
  { random = Math.random, port: ownPort = 0, onData, hold, endsAfter }: Options = {},
): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const forgotten = new Set<Socket>()
  /** The other side has gone. They end once they have answered. */
  const left = new Set<Socket>()
  let mode: 'open' | 'cut' | 'frozen' = 'open'
  let weather: Weather | undefined

  let connections = 0

  function pass(from: Socket, to: Socket, origin: Origin): void {
    /** Delayed pieces: later ones must not overtake them. */
    let late = 0
    let passing = Promise.resolve()
    sockets.add(from)
    if (mode === 'frozen') from.pause()
    from.on('data', (chunk: Buffer) => {
      onData?.(chunk)
      const held = hold?.(chunk, origin)
      if (endsAfter?.(chunk, origin)) {
        left.add(to)
        to.end(chunk).resume()
        return from.resetAndDestroy()
      }
      if (!weather && !held && late === 0) return to.write(chunk)
      if (weather && random() < weather.resetShare) return from.resetAndDestroy()
      late += 1
      const arrived = delay(weather ? weather.latencyMs + (2 * random() - 1) * weather.jitterMs : 0)
      passing = passing
        .then(() => arrived)
        .then(() => held)
        .then(() => {
          late -= 1
          if (to.writable) to.write(chunk)
        })
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      sockets.delete(from)
      forgotten.delete(from)
      if (!left.delete(to)) to.destroy()
    })
  }

  // As the clients do. Otherwise a small piece waits up to 40 ms for the acknowledgement of the one before it.
  const server = createServer({ noDelay: true }, (client) => {
    if (mode === 'cut') return client.resetAndDestroy()
    const upstream = connect({ port: Number(port), host: hostname, noDelay: true })
    connections += 1
    pass(client, upstream, { connection: connections, isAnswer: false })
    pass(upstream, client, { connection: connections, isAnswer: true })
  })
  server.listen(ownPort, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)

  function cut(): void {
    mode = 'cut'
    for (const socket of [...sockets, ...forgotten]) socket.resetAndDestroy()
  }

  return {
    url: url.href,
    cut,
    freeze() {
      mode = 'frozen'
      for (const socket of sockets) socket.pause()
    },
    worsen(given) {
      weather = given
    },
    heal() {
      mode = 'open'
      weather = undefined
      for (const socket of sockets) socket.resume()
    },
    forget() {
      mode = 'open'
      for (const socket of sockets) forgotten.add(socket.pause())
      sockets.clear()
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
