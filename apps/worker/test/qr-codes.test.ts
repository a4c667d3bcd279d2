import { makeLogger } from '@wagate/runtime/logger'
import { type Simulator, startSimulator } from '@wagate/simulator'
import { socketOptions } from '@wagate/simulator/socket-options'
import { until } from '@wagate/test-kit/until'
import makeWASocket, { initAuthCreds, WA_CERT_DETAILS, type WASocket } from 'baileys'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeLinkingSecret } from '../src/session/credentials/linking-secret.ts'
import { makeQrCodes, type QrCodes } from '../src/session/linking/qr-codes.ts'
import { makeBaileysLogger } from '../src/session/network/baileys-logger.ts'

const givenByWhatsApp = 6
const quickMs = 50
const { setTimeout: startTimer } = globalThis

let simulator: Simulator
let sock: WASocket
let codes: QrCodes
let shown: { text: string; lifeMs: number }[]
/** For how long Baileys would have shown each. */
let rotationsMs: number[]
let isUsedUp: boolean

/** With `rotationMs`, Baileys shows each QR code for that time. */
async function open(rotationMs?: number): Promise<void> {
  simulator = await startSimulator()
  shown = []
  rotationsMs = []
  isUsedUp = false
  globalThis.setTimeout = new Proxy(startTimer, {
    apply(_, self, [work, ms, ...given]) {
      const isRotation = work.name === 'genPairQR'
      if (isRotation) rotationsMs.push(ms)
      return Reflect.apply(startTimer, self, [work, isRotation ? (rotationMs ?? ms) : ms, ...given])
    },
  })
  const creds = initAuthCreds()
  sock = makeWASocket({
    ...socketOptions(simulator, WA_CERT_DETAILS),
    auth: { creds, keys: { get: async () => ({}), set: async () => undefined } },
    logger: makeBaileysLogger(makeLogger('test', 'silent'), 1),
  })
  codes = makeQrCodes(sock, makeLinkingSecret(creds), async ({ text, expiresAtMs }) => {
    shown.push({ text, lifeMs: Math.round((expiresAtMs - Date.now()) / 1000) * 1000 })
  })
  sock.ev.on('connection.update', ({ qr }) => {
    if (qr) void codes.show(qr).then((isShown) => (isUsedUp ||= !isShown))
  })
}
afterEach(async () => {
  globalThis.setTimeout = startTimer
  await sock.end(undefined)
  await simulator.close()
})

describe('QR codes that rotate quickly', () => {
  beforeEach(() => open(quickMs))

  test('those of WhatsApp are shown, no others', async () => {
    await until('they are used up', async () => isUsedUp)
    expect(shown).toHaveLength(givenByWhatsApp)
    expect(shown.filter(({ text }) => text.includes('spare'))).toEqual([])
  })

  test('each is said to live as long as Baileys shows it', async () => {
    await until('they are used up', async () => isUsedUp)
    expect(shown.map(({ lifeMs }) => lifeMs)).toEqual([60_000, 20_000, 20_000, 20_000, 20_000, 20_000])
    expect(rotationsMs.slice(0, givenByWhatsApp)).toEqual(shown.map(({ lifeMs }) => lifeMs))
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
})

describe('QR codes in real time', () => {
  beforeEach(() => open())

  test('the first is shown for a minute, the next for 20 s', async () => {
    const untilShown = (count: number) =>
      until(`${count} are shown`, { withinMs: 90_000, everyMs: 50 }, () => shown.length === count)
    await untilShown(1)
    const firstAt = performance.now()
    await untilShown(2)
    const secondAt = performance.now()
    await untilShown(3)
    expect(secondAt - firstAt).toBeGreaterThan(59_500)
    expect(performance.now() - secondAt).toBeGreaterThan(19_500)
    expect(new Set(shown.map(({ text }) => text)).size).toBe(3)
  }, 120_000)
})
