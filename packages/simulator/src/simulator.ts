// In this order, before everything else that imports Baileys.
import './wire/set-protobuf-root.ts'
import 'baileys'
import './wire/restore-protobuf-root.ts'

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { type Actions, makeActions } from './control/actions.ts'
import { createControlServer } from './control/server.ts'
import { changeWebVersion, type WebVersionRequest } from './control/web-version-actions.ts'
import type { Mail, Mailbox } from './mail/mailbox.ts'
import { serveMedia } from './media-host/media-upload.ts'
import { Faults } from './network/faults.ts'
import { MediaStore } from './network/media-store.ts'
import type { Network } from './network/network.ts'
import { RecentLog } from './network/recent-log.ts'
import { directoryState, memoryState } from './network/state.ts'
import { makeCounters } from './network/stats.ts'
import { makeWebVersion } from './network/web-version.ts'
import { clientEvents } from './stanzas/client.ts'
import { issueServerCertificate } from './wire/certificate.ts'
import { Connection } from './wire/connection.ts'
import { signingKeyFromSeed } from './wire/signing-key.ts'

export type SimulatorOptions = {
  /** Of the WebSocket and the media host. 0 (the default) chooses a free port. */
  port?: number
  controlPort?: number
  /** Of a mail server that keeps what it gets, for programs that send mails, too. Without it there is none. 0 as above. */
  smtpPort?: number
  /** Called with each mail. */
  onMail?: (mail: Mail) => void
  /** A directory for the root key, phones, linked devices and their keys. Without it they are lost at the end. */
  stateDirectory?: string
  /** False: handsets accept messages without decrypting them. */
  decrypt?: boolean
  /** Of WhatsApp Web, as the action of this name takes it. By default Baileys' own version is current. */
  webVersion?: WebVersionRequest
  /** Called for bugs of the simulator and for protocol violations of clients, which are also counted as `failures`. */
  onFailure?: (error: unknown) => void
}

export type Simulator = Actions & {
  socketUrl: string
  /** 32 bytes in base64. Clients must trust it instead of WhatsApp's own key. */
  rootKey: string
  /** host:port for media uploads over plain HTTP. */
  mediaHost: string
  controlUrl: string
  /** Of the mail server, if there is one. */
  smtpUrl?: string
  close: () => Promise<void>
}

/** Starts a separate WhatsApp network on loopback. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const state = options.stateDirectory ? directoryState(options.stateDirectory) : memoryState()
  const root = signingKeyFromSeed(state.rootSeed)
  const network: Network = {
    decrypt: options.decrypt ?? true,
    certificate: issueServerCertificate(root),
    mediaHost: '',
    phones: new Map(state.loadPhones().map((phone) => [phone.number, phone])),
    connections: new Map(),
    pairings: new Map(),
    faults: new Faults(),
    webVersion: changeWebVersion(makeWebVersion(), options.webVersion ?? {}),
    media: new MediaStore(),
    mails: [],
    log: new RecentLog(),
    logins: new RecentLog(),
    lookups: new RecentLog(),
    unknown: new RecentLog(1000),
    counters: makeCounters(),
    state,
    reportFailure: (error) => {
      network.counters.failures += 1
      options.onFailure?.(error)
    },
  }

  const socketServer = createServer((request, response) => serveMedia(network, request, response))
  socketServer.keepAliveTimeout = 0
  const sockets = new WebSocketServer({ server: socketServer, path: '/ws/chat', perMessageDeflate: false })
  const events = clientEvents(network)
  sockets.on('connection', (socket) => {
    const connection = new Connection(socket, network.certificate, events)
    network.connections.set(connection, { kind: 'unknown' })
  })

  const actions = makeActions(network)
  const controlServer = createControlServer(actions)
  const port = await listen(socketServer, options.port ?? 0)
  const controlPort = await listen(controlServer, options.controlPort ?? 0).catch(async (error: unknown) => {
    await closeServer(socketServer)
    throw error
  })
  network.mediaHost = `127.0.0.1:${port}`
  const mailbox = await openMailbox(options)
  network.mails = mailbox?.mails ?? []

  let closing: Promise<void> | undefined
  async function close(): Promise<void> {
    for (const connection of [...network.connections.keys()]) connection.terminate()
    sockets.close()
    await Promise.all([closeServer(socketServer), closeServer(controlServer), mailbox?.close()])
    await Promise.all([...network.phones.values()].map((phone) => phone.inbox))
    state.close()
  }

  return {
    ...actions,
    socketUrl: `ws://127.0.0.1:${port}/ws/chat`,
    rootKey: root.public.toString('base64'),
    mediaHost: network.mediaHost,
    controlUrl: `http://127.0.0.1:${controlPort}`,
    ...(mailbox && { smtpUrl: `smtp://127.0.0.1:${mailbox.port}` }),
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

/** Loaded only where it is used. */
async function openMailbox({ smtpPort, onMail = () => {} }: SimulatorOptions): Promise<Mailbox | undefined> {
  if (smtpPort === undefined) return undefined
  const { openMailbox } = await import('./mail/mailbox.ts')
  return openMailbox(smtpPort, onMail)
}

/** Binds to loopback only, so that other machines cannot reach it. */
function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
