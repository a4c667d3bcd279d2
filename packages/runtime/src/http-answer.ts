import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

export type Tunnel = { answer: IncomingMessage; socket: Socket; head: Buffer }

const interimMax = 16

/**
 * The answer to a request that is about to be sent. Rejects as soon as there will be none: with the error of the request, and
 * with `ECONNRESET` or `EPROTO` where Node reports none, when the connection is closed, when the peer switches to a protocol
 * that nobody asked for (101), and when it sends one interim answer (1xx) after the other.
 */
export function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve)
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(withCode('EPROTO', 'The peer has switched protocols'))
    })
    rejectWithoutAnswer(request, reject)
  })
}

/** The same for a CONNECT request, whatever status it is answered with. `head`: what came behind the answer. */
export function tunnelOf(request: ClientRequest): Promise<Tunnel> {
  return new Promise((resolve, reject) => {
    request.on('connect', (answer, socket: Socket, head) => resolve({ answer, socket, head }))
    rejectWithoutAnswer(request, reject)
  })
}

function rejectWithoutAnswer(request: ClientRequest, reject: (error: Error) => void): void {
  let interim = 0
  request.on('information', () => {
    interim += 1
    if (interim > interimMax)
      request.destroy(withCode('EPROTO', 'The peer sends interim answers without a final one'))
  })
  request.on('error', reject)
  request.on('close', () => reject(withCode('ECONNRESET', 'The connection was closed without an answer')))
}

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
