import { createHmac, hkdfSync } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { eventually } from '@wagate/test-kit/until'
import {
  type BinaryNode,
  Curve,
  getBinaryNodeChildBuffer,
  initAuthCreds,
  proto,
  type WASocket,
} from 'baileys'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type LinkingSecret, makeLinkingSecret } from '../src/session/credentials/linking-secret.ts'
import { type PasskeyLink, watchPasskey } from '../src/session/linking/passkey.ts'

const server = 's.whatsapp.net'
const options = { challenge: 'mPz0', rpId: 'whatsapp.com' }
const requestOptions = (content: unknown): BinaryNode => ({
  tag: 'passkey_request_options',
  attrs: {},
  content: Buffer.from(JSON.stringify(content)),
})

let ws: EventEmitter
let creds: ReturnType<typeof initAuthCreds>
let secretOfQr: string
let secret: LinkingSecret
let link: PasskeyLink
const query = vi.fn<(node: BinaryNode) => Promise<BinaryNode>>()
const [onAsked, onError] = [vi.fn(), vi.fn()]
beforeEach(() => {
  ws = new EventEmitter()
  creds = initAuthCreds()
  secretOfQr = creds.advSecretKey
  for (const mock of [query, onAsked, onError]) mock.mockReset()
  const sock = { ws, query } as unknown as Pick<WASocket, 'ws' | 'query'>
  secret = makeLinkingSecret(creds)
  link = watchPasskey(sock, creds, secret, { onAsked, onError })
})

afterEach(() => {
  vi.useRealTimers()
})

function ask(given: unknown, from = server): void {
  const attrs = { from, type: 'passkey_prologue_request' }
  ws.emit('CB:notification,type:passkey_prologue_request', {
    tag: 'notification',
    attrs,
    content: [requestOptions(given)],
  })
}

test('WhatsApp asks, and the secret of the QR code is worth nothing any more', async () => {
  ask(options)
  await vi.waitFor(() => expect(onAsked).toHaveBeenCalledExactlyOnceWith(options), eventually)
  expect(creds.advSecretKey).not.toBe(secretOfQr)
  expect(Buffer.from(creds.advSecretKey, 'base64')).toHaveLength(32)
})

test('a person who asks gets nothing, nor does anyone from a linked device', async () => {
  ask(options, `15551234567@${server}`)
  creds.account = {}
  ask(options)
  await new Promise(setImmediate)
  expect(onAsked).not.toHaveBeenCalled()
  expect(creds.advSecretKey).toBe(secretOfQr)
})

test.each([[{ ...options, rpId: 'example.com' }], [{ rpId: 'whatsapp.com' }], [null], ['text']])(
  'asks WhatsApp for the options when they are %j',
  async (given) => {
    query.mockResolvedValue({ tag: 'iq', attrs: {}, content: [requestOptions(options)] })
    ask(given)
    await vi.waitFor(() => expect(onAsked).toHaveBeenCalledExactlyOnceWith(options), eventually)
  },
)

test('passes on no options but those for a passkey of WhatsApp', async () => {
  const foreign = { ...options, rpId: 'example.com' }
  query.mockResolvedValue({ tag: 'iq', attrs: {}, content: [requestOptions(foreign)] })
  ask(foreign)
  await vi.waitFor(() => expect(onError).toHaveBeenCalledOnce(), eventually)
  expect(onAsked).not.toHaveBeenCalled()
})

describe('the proof that the phone knows the device', () => {
  const assertion = { id: 'AAAA', rawId: 'AAAA' }
  const phone = Curve.generateKeyPair()
  let prologues: BinaryNode[]
  let refusal: string | undefined
  beforeEach(() => {
    prologues = []
    refusal = undefined
    query.mockImplementation(async (node) => {
      const request = (node.content as BinaryNode[])[0] as BinaryNode
      if (request.tag === 'ref')
        return { tag: 'iq', attrs: {}, content: [{ tag: 'ref', attrs: {}, content: Buffer.from('ref') }] }
      if (request.tag !== 'passkey_prologue') return { tag: 'iq', attrs: {} }
      prologues.push(request)
      if (refusal !== undefined) throw Object.assign(new Error('refused'), { data: refusal })
      const identity = proto.PrimaryEphemeralIdentity.encode({
        publicKey: phone.public,
        nonce: Buffer.alloc(32),
      }).finish()
      const content = [{ tag: 'primary_ephemeral_identity', attrs: {}, content: identity }]
      const attrs = { from: server, type: 'crsc_continuation' }
      ws.emit('CB:notification,type:crsc_continuation', { tag: 'notification', attrs, content })
      return { tag: 'iq', attrs: {} }
    })
  })

  const part = (prologue: BinaryNode | undefined, tag: string) => getBinaryNodeChildBuffer(prologue, tag)

  function proofWith(secret: string, prologue: BinaryNode | undefined): Buffer {
    const info = 'shortcake-passkey-handoff-v1'
    const key = hkdfSync('sha256', Buffer.from(secret, 'base64'), '', info, 32)
    const payload = part(prologue, 'prologue_payload') ?? Buffer.alloc(0)
    return createHmac('sha256', Buffer.from(key)).update(payload).digest()
  }

  test('is made with the secret of the QR code that was scanned, also when WhatsApp asks again', async () => {
    ask(options)
    ask(options)
    expect(await link.answer(assertion)).toMatchObject({ kind: 'code', isProven: true })
    expect(part(prologues[0], 'pairing_handoff_proof')).toEqual(proofWith(secretOfQr, prologues[0]))
  })

  test('is made with the secret that a typed code has given both sides', async () => {
    const agreed = Buffer.alloc(32, 7).toString('base64')
    creds.advSecretKey = agreed
    ask(options)
    await link.answer(assertion)
    expect(part(prologues[0], 'pairing_handoff_proof')).toEqual(proofWith(agreed, prologues[0]))
  })

  test('is given until WhatsApp has taken one to the phone', async () => {
    ask(options)
    refusal = '403'
    expect(await link.answer(assertion)).toEqual({ kind: 'refused', error: '403' })
    refusal = undefined
    expect(await link.answer(assertion)).toMatchObject({ isProven: true })
    expect(part(prologues[1], 'pairing_handoff_proof')).toEqual(proofWith(secretOfQr, prologues[1]))
    expect(await link.answer(assertion)).toMatchObject({ kind: 'code', isProven: false })
    expect(part(prologues[2], 'pairing_handoff_proof')).toBeUndefined()
  })

  test.each([
    [299_999, true],
    [300_000, false],
  ])('is given %i ms after WhatsApp has asked: %j', async (ms, isProven) => {
    vi.useFakeTimers({ now: 0, toFake: ['performance'] })
    ask(options)
    vi.advanceTimersByTime(ms)
    expect(await link.answer(assertion)).toMatchObject({ isProven })
    expect(part(prologues[0], 'pairing_handoff_proof') !== undefined).toBe(isProven)
  })
  test('comes with a secret that stays however long the person at the phone compares codes', async () => {
    vi.useFakeTimers({ now: 0, toFake: ['performance'] })
    ask(options)
    await link.answer(assertion)
    expect(await link.confirm()).toEqual({ kind: 'sent' })
    const told = creds.advSecretKey
    vi.advanceTimersByTime(600_000)
    expect(secret.retire()).toBe(false)
    expect(creds.advSecretKey).toBe(told)
  })
})
