import { randomBytes } from 'node:crypto'
import type { Devnet } from '@wagate/devnet/devnet'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import type { TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { until } from '@wagate/test-kit/until'
import { expect } from 'vitest'

const [sender, other, recipient] = ['15552021001', '15552021002', '15552021003']
const unique = (name: string) => `${name} ${randomBytes(12).toString('hex')}`

/** What callers and contacts give in confidence. Each may only be in its column of the database. */
export const confidential = {
  password: unique('password'),
  shortPassword: `~${randomBytes(2).toString('hex')}~`, // Six hex digits also occur in keys.
  text: unique('text "quoted" ünïcode'),
  caption: unique('caption'),
  answerText: unique('answer'),
  scheduledText: unique('later'),
  media: Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(3000)]),
  urlSecret: randomBytes(12).toString('hex'),
  proxyPassword: randomBytes(12).toString('hex'),
  wrongKey: `wag_${randomBytes(24).toString('hex')}0`,
}
const { password, shortPassword, proxyPassword, wrongKey } = confidential
const { text, caption, answerText, scheduledText, media, urlSecret } = confidential

/** What a system returned: new keys and QR codes, and every answer. And the signatures of passkeys that it was given. */
export type Seen = {
  apiKeys: string[]
  qrTexts: string[]
  signatures: string[]
  successes: string[]
  failures: string[]
}

type Headers = Record<string, string>
type Request = (
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  headers?: Headers,
) => Promise<Record<string, unknown>>
type Use = {
  devnet: Devnet
  gateway: GatewayClient
  postgres: TcpProxy
  redis: TcpProxy
  request: Request
  seen: Seen
}

/** Creates accounts, links and sends. Calls `whileLinked` before the requests that fail and the outages. */
export async function useSystem(
  system: Omit<Use, 'request' | 'seen'>,
  whileLinked: () => Promise<void>,
): Promise<Seen> {
  const { devnet, gateway } = system
  const apiKeys = [devnet.adminKey.apiKey ?? '']
  const seen: Seen = { apiKeys, qrTexts: [], signatures: [], successes: [], failures: [] }
  const use = { ...system, seen, request: makeRequest(devnet.apiUrl, seen) }
  await useAccounts(use)
  await pair(use, sender)
  await gateway.control(`/chats/${other}/passkey`, {})
  await pair(use, other)
  await useProxy(use)
  await send(use)
  await whileLinked()
  await failInAllWays(use)
  await sendDuringOutages(use)
  await use.request('POST', '/logout-device', { sender: other })
  await until(
    'the other sender is logged out',
    async () => (await gateway.statusOf(other)).status === 'disconnected',
  )
  return seen
}

/** Sends with the key of the ADMIN, unless other headers are given, and records every answer. */
function makeRequest(apiUrl: string, { apiKeys, successes, failures }: Seen): Request {
  const usual = { 'x-api-key': apiKeys[0] ?? '', 'content-type': 'application/json' }
  return async (method, path, body, headers = usual) => {
    const init = {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }
    const answer = await fetch(apiUrl + path, init)
    const text = await answer.text()
    ;(answer.ok ? successes : failures).push(text)
    return JSON.parse(text)
  }
}

async function useAccounts({ request, seen }: Use): Promise<void> {
  const { apiKeys, successes } = seen
  const user = { email: 'user@example.com', password, devices_allowed: 3 }
  const created = await request('POST', '/create-user', user)
  successes.pop()
  apiKeys.push(String(created.api_key))
  const key = String(created.api_key)
  const json = { 'content-type': 'application/json' }
  // Keys where they are accepted, then where they are refused.
  await request('GET', '/user-info', undefined, { 'x-api-key': key })
  await request('GET', '/user-info', undefined, { authorization: `Bearer ${key}` })
  await request('GET', `/user-info?api_key=${key}`, undefined, {})
  await request('POST', '/user-info', { api_key: key }, json)
  await request('POST', '/user-info', `api_key=${key}`, {
    'content-type': 'application/x-www-form-urlencoded',
  })
  await request('GET', `/user-info?api_key=${key}`, undefined, { 'x-api-key': apiKeys[0] ?? '' })
  await request('GET', `/user-info?api_key=${wrongKey}`, undefined, {})
  await request('POST', '/user-info', { api_key: wrongKey }, json)
  await request('GET', `/${key}?api_key=${key}`, undefined, { 'x-request-id': key.slice(0, 10) })
  await request('POST', '/user-info', { [key]: password }, { ...json, 'x-api-key': key })
  successes.pop()
  const another = await request('POST', '/create-key', { name: 'another', idempotency_key: 'a key' })
  successes.pop()
  apiKeys.push(String(another.api_key))
  await request('POST', '/create-key', { name: 'another', idempotency_key: 'a key' })
  await request('GET', '/keys')
  await request('GET', '/user-info', undefined, { 'x-api-key': String(another.api_key) })
  await request('POST', '/revoke-key', { key_id: another.key_id })
  await request('GET', '/user-info', undefined, { 'x-api-key': String(another.api_key) })
  // Requests that an answer could repeat a password of.
  await request('POST', '/create-user', user)
  await request('POST', '/create-user', { ...user, password: shortPassword })
  await request('POST', '/create-user', { ...user, email: password })
  await request('POST', '/create-user', { ...user, role: password, devices_allowed: password, expiry: key })
  await request('GET', `/create-user?email=x&password=${encodeURIComponent(password)}`)
  await request('POST', '/create-user', user, { ...json, 'x-api-key': key })
}

async function pair(use: Use, number: string): Promise<void> {
  const { gateway, request, seen } = use
  const qr = await request('POST', '/generate-qr', { sender: number })
  seen.successes.pop()
  seen.qrTexts.push(String(qr.qr_text))
  await gateway.control('/scan', { qr: qr.qr_text, number })
  if (number === other) await usePasskey(use)
  await until('the sender is connected', async () => (await gateway.statusOf(number)).status === 'connected')
}

async function useProxy({ request }: Use): Promise<void> {
  const device = { sender: '15552021009' }
  await request('POST', '/create-device', device)
  const host = `shop:${proxyPassword}@proxy.example.com`
  const { proxy } = await request('POST', '/set-device', { ...device, proxy: `http://${host}:8080` })
  expect(proxy).toBe('http://proxy.example.com:8080')
  await request('GET', `/set-device?sender=${device.sender}&proxy=socks5://${host}`)
}

async function usePasskey({ gateway, request, seen }: Use): Promise<void> {
  const status = async () => (await gateway.statusOf(other)).status
  await until('WhatsApp asks for the passkey', async () => (await status()) === 'passkey_required')
  const { challenge } = (await request('POST', '/passkey-challenge', { sender: other })).challenge as {
    challenge: string
  }
  type Assertion = { response: { signature: string } }
  const assertion = await gateway.control<Assertion>(`/chats/${other}/passkey/assert`, { challenge })
  seen.signatures.push(assertion.response.signature)
  const given = { sender: other, assertion }
  expect(await request('POST', '/passkey-assertion', given)).toMatchObject({ ok: true })
}

async function send({ gateway, request }: Use): Promise<void> {
  const sent = await request('POST', '/send-message', { sender, number: recipient, message: text, wait: 10 })
  expect(sent).toMatchObject({ ok: true })
  const url = `data:application/pdf;base64,${media.toString('base64')}`
  const given = {
    sender,
    number: recipient,
    type: 'document',
    url,
    caption,
    wait: 10,
    idempotency_key: 'once',
  }
  expect(await request('POST', '/send-media', given)).toMatchObject({
    ok: true,
    status: expect.stringMatching(/sent|delivered/),
  })
  await request('POST', '/send-media', { ...given, caption: text })
  const sendAt = new Date(Date.now() + 3_600_000).toISOString()
  await request('POST', '/send-message', {
    sender,
    number: recipient,
    message: scheduledText,
    send_at: sendAt,
  })
  await request('GET', `/send-message?${new URLSearchParams({ sender, number: recipient, message: text })}`)
  await gateway.control(`/chats/${recipient}/send`, { to: sender, text: answerText })
  await until('the answer is in the history', async () =>
    (await gateway.history()).some(({ message }) => message === answerText),
  )
}

async function failInAllWays({ request, seen }: Use): Promise<void> {
  const { apiKeys } = seen
  const given = { sender, number: recipient, message: text }
  const json = JSON.stringify({ ...given, api_key: apiKeys[1], password })
  await request('POST', '/send-message', json.slice(0, -1))
  await request('POST', '/send-message', json.replace('{', '{{'))
  await request('POST', '/send-message', json, {
    'x-api-key': apiKeys[1] ?? '',
    'content-type': 'text/plain',
  })
  await request('POST', '/send-message', [given])
  await request('POST', '/send-message', { ...given, message: text.repeat(100) })
  await request('POST', '/send-message', { ...given, message: text.repeat(2000) })
  await request('POST', '/send-message', { ...given, sender: text, number: text, wait: text, send_at: text })
  await request('POST', '/send-message', { ...given, sender: '15550599999' })
  await request('POST', `/send-message?message=${encodeURIComponent(caption)}`, given)
  await request('POST', '/create-device', { sender, name: text.repeat(20) })
  const url = `data:application/pdf;base64,${media.toString('base64')}`
  // One of these is asked for again for minutes, and holds back what comes after it.
  const file = { sender, number: '15552021004', type: 'document', caption }
  for (const wrong of [
    { url: `https://user:${urlSecret}@example.com/` },
    { url: `http://127.0.0.1/?${urlSecret}` },
    { url: `${urlSecret}` },
    { url: `${url}!` },
    { url, type: 'image' },
  ]) {
    await request('POST', '/send-media', { ...file, ...wrong })
  }
  const lost = await request('POST', '/send-media', {
    sender,
    number: recipient,
    type: 'image',
    url: `http://${urlSecret}.invalid/${urlSecret}?token=${urlSecret}`,
    wait: 20,
  })
  expect(lost).toMatchObject({ status: 'failed', error_code: 'media_fetch_failed' })
}

async function sendDuringOutages({ devnet, request, postgres, redis }: Use): Promise<void> {
  const given = { sender, number: recipient, message: text, password, wait: 1 }
  redis.cut()
  await request('POST', '/send-message', given)
  redis.heal()
  postgres.cut()
  await request('POST', '/send-message', given)
  await request('POST', '/create-user', { email: 'x@example.com', password })
  postgres.heal()
  await devnet.waitUntilReady()
  await until('a message gets through again', async () => {
    const { status } = await request('POST', '/send-message', { ...given, wait: 5 })
    return status === 'sent' || status === 'delivered'
  })
}
