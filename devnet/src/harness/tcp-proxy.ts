import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type TcpProxy = {
  url: string
  /** Refuses and resets: the server is gone. */
  cut(): void
  /** Keeps connections open and passes nothing: a frozen server, or a silent partition. */
  freeze(): void
  heal(): void
  close(): Promise<void>
}

/** Stands in front of a real server and fails the way networks fail. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let mode: 'open' | 'cut' | 'frozen' = 'open'

  const server = createServer((client) => {
    if (mode === 'cut') return client.resetAndDestroy()
    const upstream = connect(Number(port), hostname)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      if (mode === 'frozen') from.pause()
      from.on('data', (chunk) => to.write(chunk))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)

  function cut(): void {
    mode = 'cut'
    for (const socket of sockets) socket.resetAndDestroy()
  }

  return {
    url: url.href,
    cut,
    freeze() {
      mode = 'frozen'
      for (const socket of sockets) socket.pause()
    },
    heal() {
      mode = 'open'
      for (const socket of sockets) socket.resume()
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
