import { makeLogger } from '@wagate/runtime/logger'
import { type Simulator, startSimulator } from '@wagate/simulator'
import { socketOptions } from '@wagate/simulator/socket-options'
import { eventually } from '@wagate/test-kit/until'
import { type BinaryNode, initAuthCreds, makeWASocket, WA_CERT_DETAILS, type WASocket } from 'baileys'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openSocket } from '../src/session/connection/socket.ts'
import { makeBaileysLogger } from '../src/session/network/baileys-logger.ts'
import { WhatsAppRoute } from '../src/session/network/whatsapp-route.ts'
import { expectClosing } from '../src/session/sending/unawaited-sends.ts'

let simulator: Simulator
let sock: WASocket
let unhandled: unknown[]
const ofVitest = process.listeners('unhandledRejection')
const note = (error: unknown) => void unhandled.push(error)
beforeEach(async () => {
  unhandled = []
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', note)
  simulator = await startSimulator()
  sock = makeWASocket({
    ...socketOptions(simulator, WA_CERT_DETAILS),
    auth: { creds: initAuthCreds(), keys: { get: async () => ({}), set: async () => undefined } },
    logger: makeBaileysLogger(makeLogger('test', 'silent'), 1),
    shouldIgnoreJid: (jid) => jid === 'status@broadcast',
  })
})
afterEach(async () => {
  await sock.end(undefined)
  await simulator.close()
  process.removeAllListeners('unhandledRejection')
  for (const listener of ofVitest) process.on('unhandledRejection', listener)
})

const untilOpen = () =>
  new Promise<void>((resolve) => {
    sock.ev.on('connection.update', ({ qr }) => qr && resolve())
  })
const turn = () => new Promise((resolve) => setTimeout(resolve, 0))
const ib = (child: BinaryNode): BinaryNode => ({ tag: 'ib', attrs: {}, content: [child] })
const preview = ib({ tag: 'offline_preview', attrs: {} })
const dirty = (type: string) => ib({ tag: 'dirty', attrs: { type } })
const receipt = { tag: 'receipt', attrs: { id: '1', from: 'status@broadcast' } }

test.each([
  ['the offline preview', 'CB:ib,,offline_preview', preview],
  ['changed groups', 'CB:ib,,dirty', dirty('groups')],
  ['changed communities', 'CB:ib,,dirty', dirty('communities')],
  ['an ignored receipt', 'CB:receipt', receipt],
])(
  'an answer to %s that a closing connection does not send is no unhandled rejection',
  async (_, event, node) => {
    expectClosing(sock)
    await untilOpen()
    sock.authState.creds.me = { id: '15551234567:1@s.whatsapp.net' }
    const ended = sock.end(undefined)
    sock.ws.emit(event, node)
    await ended
    await turn()
    expect(unhandled).toEqual([])
  },
)

test('nor is a question that a closing connection leaves without an answer', async () => {
  expectClosing(sock)
  await untilOpen()
  sock.ws.emit('CB:ib,,dirty', dirty('groups'))
  await turn()
  const closed = new Promise((resolve) => sock.ws.once('close', resolve))
  await simulator.close()
  await closed
  await turn()
  expect(unhandled).toEqual([])
})

test('nor in a socket of the worker', async () => {
  const nothing = { get: () => undefined, set: () => undefined, delete: () => undefined }
  const inbound = { wrap: (repository: unknown) => repository, attach: () => undefined }
  const auth = { creds: initAuthCreds(), keys: { get: async () => ({}), set: async () => undefined } }
  const own = openSocket({
    deviceId: 1,
    auth,
    network: { socket: socketOptions(simulator, WA_CERT_DETAILS), files: new WhatsAppRoute({}) },
    sendsColdTokens: false,
    mayLogIn: () => true,
    logger: makeLogger('test', 'silent'),
    retryCounts: nothing,
    getMessage: async () => undefined,
    inbound,
    persist: (work: () => unknown) => work(),
  } as unknown as Parameters<typeof openSocket>[0])
  own.ws.emit('CB:ib,,offline_preview', preview)
  await own.end(undefined)
  await turn()
  expect(unhandled).toEqual([])
})

test('a bug in a listener of Baileys still is', async () => {
  const bug = new TypeError('groups is undefined')
  sock.ws.on('CB:ib,,dirty', () => Promise.reject(bug))
  expectClosing(sock)
  await untilOpen()
  await sock.end(undefined)
  sock.ws.emit('CB:ib,,dirty', dirty('something else'))
  await vi.waitFor(() => expect(unhandled).toEqual([bug]), eventually)
})
