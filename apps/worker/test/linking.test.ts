import { EventEmitter } from 'node:events'
import { eventually } from '@wagate/test-kit/until'
import { type BinaryNode, initAuthCreds, type WASocket } from 'baileys'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Linking, openLinking } from '../src/session/linking/linking.ts'
import type { QrCode } from '../src/session/linking/qr-codes.ts'

const server = 's.whatsapp.net'
const refresh = 'companion_reg_refresh'
const typedCode = {
  tag: 'link_code_companion_reg',
  attrs: { stage: 'primary_hello' },
}

let ws: EventEmitter
let creds: ReturnType<typeof initAuthCreds>
let linking: Linking
let shown: QrCode[]
let retired: (QrCode | undefined)[]
let stored: Promise<void>
const sendNode = vi.fn<(node: BinaryNode) => Promise<void>>()
const [baileys, onError] = [vi.fn(), vi.fn()]
beforeEach(() => {
  ws = new EventEmitter()
  ws.on('CB:notification', baileys)
  creds = initAuthCreds()
  shown = []
  retired = []
  stored = Promise.resolve()
  for (const mock of [sendNode, baileys, onError]) mock.mockReset()
  const sock = { ws, sendNode } as unknown as Pick<WASocket, 'ws' | 'query' | 'sendNode'>
  linking = openLinking(sock, creds, {
    async onQr(code) {
      shown.push(code)
    },
    async onQrRetired(code) {
      retired.push(code)
      await stored
    },
    onPasskeyAsked: () => undefined,
    onError,
    inOrder: (step) => step(),
  })
})
afterEach(() => {
  vi.useRealTimers()
})

const show = (ref: string) => linking.showQr(['https://wa.me/settings#ref', ref, 'key', 'old', '1'].join(','))
const secretIn = (code: QrCode | undefined) => code?.text.split(',')[3]

function notify(type: string, child?: Partial<BinaryNode>, from = server): void {
  const content = child ? [{ tag: type, attrs: {}, ...child }] : []
  ws.emit('CB:notification', { tag: 'notification', attrs: { id: 'n1', from, type }, content })
}

const acknowledged = () =>
  vi.waitFor(() => {
    expect(sendNode).toHaveBeenCalledOnce()
    return sendNode.mock.calls[0]?.[0]
  }, eventually)

test('a QR code has the secret of the moment, not the one that Baileys began with', async () => {
  await show('one')
  expect(secretIn(shown[0])).toBe(creds.advSecretKey)
})

test.each([refresh, 'pair-device-rotate-qr'])(
  'WhatsApp retires the secret (%s): the code is shown again with another one, for as long as before',
  async (tag) => {
    await show('one')
    const before = { secret: creds.advSecretKey, code: shown[0] }
    notify(refresh, { tag })
    expect(await acknowledged()).toEqual({
      tag: 'ack',
      attrs: { id: 'n1', to: server, class: 'notification', type: refresh },
    })
    expect(creds.advSecretKey).not.toBe(before.secret)
    expect(Buffer.from(creds.advSecretKey, 'base64')).toHaveLength(32)
    const [code] = retired
    expect(code).toEqual({
      text: before.code?.text.replace(before.secret, creds.advSecretKey),
      expiresAtMs: before.code?.expiresAtMs,
    })
    await show('two')
    expect(secretIn(shown[1])).toBe(creds.advSecretKey)
    expect(baileys).not.toHaveBeenCalled()
  },
)

test('WhatsApp is not told before the new code is stored, nor when that fails', async () => {
  let fail: (error: Error) => void = () => undefined
  stored = new Promise((_resolve, reject) => {
    fail = reject
  })
  notify(refresh, {})
  await vi.waitFor(() => expect(retired).toHaveLength(1), eventually)
  const lost = new Error('Another worker owns this shard')
  fail(lost)
  await vi.waitFor(() => expect(onError).toHaveBeenCalledExactlyOnceWith(lost), eventually)
  expect(sendNode).not.toHaveBeenCalled()
})

test.each([
  ['without what it retires', undefined, server],
  ['of something else', { tag: 'other' }, server],
  ['from a person', {}, `15551234567@${server}`],
])('a notification %s is acknowledged, and retires nothing', async (_what, child, from) => {
  const before = creds.advSecretKey
  notify(refresh, child, from)
  await acknowledged()
  expect(creds.advSecretKey).toBe(before)
  expect(retired).toEqual([])
})

test('any other notification before the login is acknowledged, and does not reach Baileys', async () => {
  notify('passkey_prologue_request')
  expect(await acknowledged()).toMatchObject({ attrs: { type: 'passkey_prologue_request' } })
  expect(baileys).not.toHaveBeenCalled()
})

test('a typed code reaches Baileys, and its secret stays while the phone may prove the link with it', async () => {
  vi.useFakeTimers({ now: 0, toFake: ['Date', 'performance'] })
  await show('one')
  notify('link_code_companion_reg', typedCode)
  expect(baileys).toHaveBeenCalledOnce()
  const agreed = Buffer.alloc(32, 7).toString('base64')
  creds.advSecretKey = agreed
  notify(refresh, {})
  await acknowledged()
  expect(creds.advSecretKey).toBe(agreed)
  expect(retired).toEqual([])

  await show('two')
  expect(secretIn(shown[1])).toBe(agreed)
  // The code was another one, so no link came of it.
  vi.advanceTimersByTime(60_001)
  await show('three')
  expect(creds.advSecretKey).not.toBe(agreed)
  expect(secretIn(shown[2])).toBe(creds.advSecretKey)
})

test('a device that is linked leaves notifications to Baileys', async () => {
  creds.account = {}
  const before = creds.advSecretKey
  notify(refresh, {})
  expect(baileys).toHaveBeenCalledOnce()
  expect(creds.advSecretKey).toBe(before)
  expect(sendNode).not.toHaveBeenCalled()
})
