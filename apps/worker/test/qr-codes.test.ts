import { makeLogger } from '@wagate/runtime/logger'
import { type Simulator, startSimulator } from '@wagate/simulator'
import { socketOptions } from '@wagate/simulator/socket-options'
import { until } from '@wagate/test-kit/until'
import makeWASocket, { initAuthCreds, WA_CERT_DETAILS, type WASocket } from 'baileys'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeBaileysLogger } from '../src/session/baileys-logger.ts'
import { makeQrCodes, type QrCodes } from '../src/session/qr-codes.ts'

const givenByWhatsApp = 6
/** In place of 20 s. */
const qrTimeout = 50

let simulator: Simulator
let sock: WASocket
let codes: QrCodes
let shown: string[]
let isUsedUp: boolean

beforeEach(async () => {
  simulator = await startSimulator()
  shown = []
  isUsedUp = false
  sock = makeWASocket({
    ...socketOptions(simulator, WA_CERT_DETAILS),
    auth: { creds: initAuthCreds(), keys: { get: async () => ({}), set: async () => undefined } },
    logger: makeBaileysLogger(makeLogger('test', 'silent'), 1),
    qrTimeout,
  })
  codes = makeQrCodes(sock, async (text) => void shown.push(text))
  sock.ev.on('connection.update', ({ qr }) => {
    if (qr) void codes.show(qr).then((isShown) => (isUsedUp ||= !isShown))
  })
})
afterEach(async () => {
  await sock.end(undefined)
  await simulator.close()
})

test('those of WhatsApp are shown, no others', async () => {
  await until('they are used up', async () => isUsedUp)
  expect(shown).toHaveLength(givenByWhatsApp)
  expect(shown.filter((text) => text.includes('spare'))).toEqual([])
})

test('the connection outlasts them once a phone has scanned', async () => {
  await until('one is shown', async () => shown.length > 0)
  codes.stop()
  const count = shown.length
  let asked = 0
  sock.ev.on('connection.update', ({ qr }) => {
    if (qr) asked += 1
  })
  await until('Baileys has used up those of WhatsApp', async () => asked > 2 * givenByWhatsApp)
  expect(sock.ws.isOpen).toBe(true)
  expect(isUsedUp).toBe(false)
  expect(shown).toHaveLength(count)
})
