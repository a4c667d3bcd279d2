import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/**
 * A proxy in front of Postgres. Ends the connection of a client whose statement it has passed on, without the answer.
 * `isWithheld` is asked once for each execution of a statement, with its text.
 */
export function startAnswerWithholder(
  target: string,
  isWithheld: (statement: string) => boolean,
): Promise<TcpProxy> {
  const readers = new Map<number, (chunk: Buffer) => boolean>()
  return startTcpProxy(target, {
    endsAfter(chunk, { connection, isAnswer }) {
      if (isAnswer) return false
      const read = readers.get(connection) ?? makeReader(isWithheld)
      readers.set(connection, read)
      return read(chunk)
    },
  })
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
