import { EventEmitter } from 'node:events'
import { eventually } from '@wagate/test-kit/until'
import { type BinaryNode, initAuthCreds, type WASocket } from 'baileys'
import { beforeEach, expect, test, vi } from 'vitest'
import { makeLinkingSecret } from '../src/session/linking-secret.ts'
import { watchPasskey } from '../src/session/passkey.ts'

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
const query = vi.fn<(node: BinaryNode) => Promise<BinaryNode>>()
const [onAsked, onError] = [vi.fn(), vi.fn()]
beforeEach(() => {
  ws = new EventEmitter()
  creds = initAuthCreds()
  secretOfQr = creds.advSecretKey
  for (const mock of [query, onAsked, onError]) mock.mockReset()
  const sock = { ws, query } as unknown as Pick<WASocket, 'ws' | 'query'>
  watchPasskey(sock, creds, makeLinkingSecret(creds), { onAsked, onError })
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
