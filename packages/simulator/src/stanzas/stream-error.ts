import type { Device } from '../network/phone.ts'
import type { Connection } from '../wire/connection.ts'
import { node } from '../wire/node.ts'

/** Ends a stream with a code, or with a conflict: the companion has connected again or was removed. */
export function streamError(connection: Connection, code: string): void {
  if (code === 'conflict') {
    connection.send(node('stream:error', {}, [node('conflict', { type: 'replaced' })]))
  } else if (code === 'device_removed') {
    connection.send(node('stream:error', { code: '401' }, [node('conflict', { type: 'device_removed' })]))
  } else {
    connection.send(node('stream:error', { code }))
  }
  connection.close()
}

/** The same, also with `ack`: the acknowledgement of the last message is missing, so it is delivered again. */
export function endStream(device: Device, connection: Connection, code: string): void {
  if (code !== 'ack') {
    streamError(connection, code)
    return
  }
  const { key, stanza } = device.lastMessage ?? {}
  if (key && stanza) device.pending.set(key, stanza)
  streamErrorOfAck(connection, {
    class: 'message',
    id: stanza?.attrs.id ?? '',
    from: stanza?.attrs.from ?? '',
  })
}

/** Ends a stream because the client has not acknowledged a stanza of this class. */
export function streamErrorOfAck(
  connection: Connection,
  stanza: { class: 'message' | 'notification'; id: string; from: string },
): void {
  connection.send(node('stream:error', {}, [node('ack', stanza)]))
  connection.close()
}
