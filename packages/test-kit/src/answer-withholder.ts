import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy in front of Postgres. Ends the connection of a client whose statement it has passed on, without the answer. */
export type AnswerWithholder = { url: string; close(): Promise<void> }

/** `isWithheld` is asked once for each execution of a statement, with its text. */
export async function startAnswerWithholder(
  target: string,
  isWithheld: (statement: string) => boolean,
): Promise<AnswerWithholder> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: Number(port), host: hostname, noDelay: true })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    }
    const read = makeReader(isWithheld)
    client.on('data', (chunk: Buffer) => {
      upstream.write(chunk)
      if (!read(chunk)) return
      // Postgres goes on with what it has, then finds the end.
      client.resetAndDestroy()
      upstream.end().resume()
    })
    upstream.on('data', (chunk: Buffer) => client.writable && client.write(chunk))
    client.on('close', () => upstream.end())
    upstream.on('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** Reads what a client sends. True once a statement has been sent as a whole whose answer is to be withheld. */
function makeReader(isWithheld: (statement: string) => boolean): (chunk: Buffer) => boolean {
  const statements = new Map<string, string>()
  let rest = Buffer.alloc(0)
  let hasBegun = false
  let isFound = false

  /** https://www.postgresql.org/docs/current/protocol-message-formats.html */
  function take(type: string, body: Buffer): boolean {
    const [first = '', second = ''] = body.toString('latin1').split('\0', 2)
    if (type === 'P') statements.set(first, second)
    if (type === 'B' || type === 'Q') {
      const statement = type === 'B' ? statements.get(second) : first
      isFound = (statement !== undefined && isWithheld(statement)) || isFound
    }
    return isFound && (type === 'S' || type === 'Q')
  }

  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      // The first message of a connection has no type.
      const start = hasBegun ? 1 : 0
      if (rest.length < start + 4) return false
      const end = start + rest.readInt32BE(start)
      if (rest.length < end) return false
      const message = rest.subarray(0, end)
      rest = rest.subarray(end)
      if (hasBegun && take(String.fromCharCode(message[0] ?? 0), message.subarray(5))) return true
      hasBegun = true
    }
  }
}
