import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Certificate } from '@wagate/test-kit/make-certificate'

/** How far the other side lets a connection get. */
export const stages = ['accept', 'SSL request', 'TLS', 'startup', 'authentication', 'ready'] as const
export type Stage = (typeof stages)[number]

export const endings = ['close', 'reset', 'silence', 'refusal'] as const
export type Ending = (typeof endings)[number]

export type FailingServer = {
  url: string
  connections(): number
  /** From now on, it passes connections on to Postgres. */
  heal(): void
  close(): Promise<void>
}

const message = (type: string, ...body: Buffer[]) => {
  const content = Buffer.concat(body)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(content.length + 4, 1)
  return Buffer.concat([head, content])
}
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

// https://www.postgresql.org/docs/current/protocol-message-formats.html
const wantsPassword = message('R', int32(3))
const ready = Buffer.concat([message('R', int32(0)), message('Z', Buffer.from('I'))])
const starting = message('E', Buffer.from('SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0'))

/** What it answers to the pieces that a client sends before it fails. */
const answersBefore: { [Name in Stage]: Buffer[] } = {
  accept: [],
  'SSL request': [],
  TLS: [Buffer.from('S')],
  startup: [],
  authentication: [wantsPassword],
  ready: [ready],
}

/** Speaks the protocol of Postgres up to a stage, then ends each connection in the same way. */
export async function startFailingServer(
  databaseUrl: string,
  { stage, ending, certificate }: { stage: Stage; ending: Ending; certificate: Certificate },
): Promise<FailingServer> {
  const isEncrypted = stage === 'SSL request' || stage === 'TLS'
  const { keyFile, certificateFile } = certificate
  const secureContext = { key: readFileSync(keyFile), cert: readFileSync(certificateFile) }
  const { hostname, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let connections = 0
  let isWell = false

  function fail(socket: Socket): void {
    if (ending === 'close') socket.end()
    if (ending === 'reset') socket.resetAndDestroy()
    if (ending === 'refusal') socket.end(starting)
  }

  async function pass(client: Socket): Promise<void> {
    let plain = client
    if (isEncrypted) {
      await once(client, 'data')
      client.write('S')
      plain = new TLSSocket(client, { isServer: true, ...secureContext })
    }
    const upstream = connect({ port: Number(port), host: hostname })
    for (const [socket, peer] of [
      [plain, upstream],
      [upstream, plain],
    ] as const) {
      socket.on('error', () => undefined).on('close', () => peer.destroy())
      socket.pipe(peer)
    }
  }

  const server = createServer((client) => {
    connections += 1
    sockets.add(client)
    client.on('error', () => undefined).on('close', () => sockets.delete(client))
    if (isWell) return void pass(client)
    const answers = [...answersBefore[stage]]
    if (stage === 'accept') return fail(client.resume())
    client.on('data', () => {
      const answer = answers.shift()
      if (answer) client.write(answer)
      else fail(client)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  url.password ||= 'secret'
  if (isEncrypted) url.searchParams.set('sslmode', 'require')

  return {
    url: url.href,
    connections: () => connections,
    heal() {
      isWell = true
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
