import { makeLogger } from '@wagate/runtime/logger'
import { startSimulator } from '@wagate/simulator'
import { socketOptions } from '@wagate/simulator/socket-options'
import { until } from '@wagate/test-kit/until'
import {
  type BinaryNode,
  DEFAULT_CONNECTION_CONFIG,
  DisconnectReason,
  decodeBinaryNode,
  encodeBinaryNode,
  initAuthCreds,
  MessageRetryManager,
  makeWASocket,
  promiseTimeout,
  WA_CERT_DETAILS,
} from 'baileys'
import { expect, test } from 'vitest'
import { makeBaileysLogger } from '../src/session/network/baileys-logger.ts'

test('a query reads no stack trace, and leaves no timer', async () => {
  const { prepareStackTrace } = Error
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  let traces = 0
  Error.prepareStackTrace = (error) => {
    traces += 1
    return String(error)
  }
  try {
    expect(await promiseTimeout(60_000, (resolve) => resolve('answer'))).toBe('answer')
    await expect(promiseTimeout(60_000, (_, reject) => reject(new Error('refused')))).rejects.toThrow(
      'refused',
    )
  } finally {
    Error.prepareStackTrace = prepareStackTrace
  }
  expect(traces).toBe(0)
  expect(timers()).toBe(before)
})

test('a query that is not answered in time fails as before', async () => {
  const unanswered = promiseTimeout(1, () => undefined)
  await expect(unanswered).rejects.toMatchObject({ output: { statusCode: DisconnectReason.timedOut } })
})

test('the memory of sent messages is bounded, and takes nothing before the first', () => {
  const manager = new MessageRetryManager(DEFAULT_CONNECTION_CONFIG.logger, 5)
  expect([Reflect.get(manager, 'recentMessagesMap').max, Reflect.get(manager, 'baseKeys').max]).toEqual([
    0, 0,
  ])
  for (let index = 0; index < 600; index++)
    manager.addRecentMessage('a', `${index}`, { conversation: 'text' })
  expect(manager.getRecentMessage('a', '599')).toBeDefined()
  expect(manager.getRecentMessage('a', '87')).toBeUndefined()
  expect(manager.getRecentMessage('a', '88')).toBeDefined()
})

test('a stanza is encoded without an iterator over its bytes', async () => {
  const content = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index & 0xff))
  Object.defineProperty(content, Symbol.iterator, {
    value: () => {
      throw new Error('iterated')
    },
  })
  const attrs = { v: '2', type: 'msg', 'not-a-token': 'Ünïcode 1' }
  const stanza: BinaryNode = {
    tag: 'message',
    attrs: { to: '4912345678:3@s.whatsapp.net' },
    content: [{ tag: 'enc', attrs, content }],
  }
  const decoded = await decodeBinaryNode(encodeBinaryNode(stanza))
  expect(decoded).toMatchObject({ tag: stanza.tag, attrs: stanza.attrs, content: [{ tag: 'enc', attrs }] })
  const [enc] = decoded.content as BinaryNode[]
  expect(Buffer.compare(enc?.content as Buffer, content)).toBe(0)
})

test('settings of the account that WhatsApp does not send are asked for once', async () => {
  const sender = '15552990001'
  const simulator = await startSimulator()
  // No key is needed for a login.
  const keys = { get: async () => ({}), set: async () => undefined }
  const creds = initAuthCreds()
  const open = () => {
    const sock = makeWASocket({
      ...socketOptions(simulator, WA_CERT_DETAILS),
      auth: { creds, keys },
      logger: makeBaileysLogger(makeLogger('test', 'silent'), 1),
      shouldSyncHistoryMessage: () => false,
      defaultQueryTimeoutMs: 300,
    })
    sock.ev.on('creds.update', (update) => Object.assign(creds, update))
    return sock
  }
  let sock = open()
  const qr = await new Promise<string>((resolve) => {
    sock.ev.on('connection.update', (update) => update.qr && resolve(update.qr))
  })
  const scanned = simulator.scan({ qr, number: sender })
  await until('the phone has linked it', () => creds.account !== undefined)
  await until('the connection has ended', () => !sock.ws.isOpen)
  sock = open()
  await scanned
  const { id } = simulator.fault({ kind: 'app_state_omit', sender })
  const strikes = () => simulator.faults().find((fault) => fault.id === id)?.strikes ?? 0
  await expect(sock.resyncAppState(['regular'], false)).rejects.toMatchObject({
    output: { statusCode: DisconnectReason.timedOut },
  })
  expect(strikes()).toBe(1)
  await sock.end(undefined)
  await simulator.close()
}, 30_000)
