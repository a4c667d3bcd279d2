import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { makeClient } from '@wagate/test-kit/http-client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Deadline } from '../src/http/deadline.ts'
import { type BodySender, type LargeBodies, makeLargeBodies } from '../src/http/large-bodies.ts'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

const mebibyte = 2 ** 20
const number = '4915199999999'
/** The allowed minimum. One account gets 12 MiB of it, and the rest of a body when it is its turn to finish. */
const memoryBytes = 48 * mebibyte

let gateway: Gateway
type Sender = Awaited<ReturnType<typeof createSender>>
let tenant: Sender
let other: Sender
const uploads: Socket[] = []

beforeAll(async () => {
  gateway = await startGatewayWithOwner({ BODY_MEMORY_BYTES: String(memoryBytes), TRUST_PROXY: '1' })
  tenant = await createSender(gateway)
  other = await createSender(gateway)
})
afterAll(() => gateway.close())
afterEach(() => {
  for (const socket of uploads.splice(0)) socket.destroy()
})

type Upload = { apiKey?: string; address?: string; bytes: number; length?: number }

/** Sends the beginning of a body and stops; chunked without a length. Resolves once it is sent. */
async function beginUpload({ apiKey, address = '198.51.100.1', bytes, length }: Upload): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  uploads.push(socket)
  socket.on('error', () => undefined)
  const head = [
    'POST /send-media HTTP/1.1',
    'Host: x',
    ...(apiKey ? [`X-Api-Key: ${apiKey}`] : []),
    `X-Forwarded-For: ${address}`,
    'Content-Type: application/json',
    length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  if (length === undefined) socket.write(`${bytes.toString(16)}\r\n`)
  await new Promise<void>((resolve) => socket.write(Buffer.alloc(bytes, 0x20), () => resolve()))
  return socket
}

function send({ account, sender }: Sender, bytes: number, fields: Record<string, unknown> = {}) {
  const url = `data:application/pdf;base64,${Buffer.alloc(bytes).toString('base64')}`
  return account.post('/send-media', { sender, number, type: 'document', url, ...fields })
}

describe('large bodies', () => {
  test('reserve no memory while they are announced but not sent', async () => {
    const { apiKey } = tenant.account
    for (let n = 0; n < 3; n++) {
      await beginUpload({ apiKey, bytes: 1, length: 23 * mebibyte })
      await beginUpload({ apiKey, bytes: 1 })
    }
    expect((await send(other, 2 * mebibyte)).status).toBe(200)
    expect((await send(tenant, 2 * mebibyte)).status).toBe(200)
  })

  test('of one account always leave room for those of another', async () => {
    const { account } = tenant
    const second = String((await account.post('/create-key')).body.api_key)
    // This body uses up the account's share and its turn to finish. It waits for no memory: one that waits is refused in
    // the end, and frees its own.
    await beginUpload({ apiKey: second, bytes: 23 * mebibyte - 1, length: 23 * mebibyte })
    const sendBoth = () => Promise.all([send(tenant, 2 * mebibyte), send(other, 2 * mebibyte)])
    let [refused, taken] = await sendBoth()
    // There is room until the gateway has read enough of it from the connection.
    while (refused.status === 200) [refused, taken] = await sendBoth()
    expect(taken.status).toBe(200)
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // Small bodies of the same operation need no reservation.
    expect((await send(tenant, 1000)).status).toBe(200)
    for (const socket of uploads.splice(0)) socket.destroy()
    expect((await send(tenant, 2 * mebibyte)).status).toBe(200)
  })

  test('without a key block neither callers with a key nor other networks', async () => {
    for (let n = 0; n < 5; n++) void beginUpload({ bytes: 20 * mebibyte, length: 24 * mebibyte })
    await beginUpload({ bytes: 1 })
    expect((await send(tenant, 2 * mebibyte)).status).toBe(200)
    const stranger = makeClient(gateway.url)
    const url = `data:application/pdf;base64,${Buffer.alloc(2 * mebibyte).toString('base64')}`
    const body = { api_key: other.account.apiKey, sender: other.sender, number, type: 'document', url }
    const answer = await stranger.post('/send-media', body, { 'x-forwarded-for': '203.0.113.9' })
    expect(answer.status).toBe(200)
  })

  test('release their memory when they are refused for another reason', async () => {
    const url = `data:image/png;base64,${Buffer.alloc(15 * mebibyte).toString('base64')}`
    for (let n = 0; n < 3; n++) {
      const { account, sender } = tenant
      const answer = await account.post('/send-media', { sender, number, type: 'image', url })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_media' } })
    }
  })

  test('all get a response when many arrive at the same time, and some are accepted', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(tenant, 4 * mebibyte)))
    const statuses = new Set(answers.map(({ status }) => status))
    expect(statuses).toContain(200)
    for (const status of statuses) expect([200, 503]).toContain(status)
  })

  const longMembers = Array.from({ length: 20 }, (_, n) => `"${n}":"${'x'.repeat(40_000)}"`).join()
  test.each([
    `{"url":[${'[],'.repeat(4e6)}1]}`,
    `{${'"a":1,'.repeat(2e6)}"b":1}`,
    `{${' '.repeat(1e7)}}`,
    `{${longMembers}}`,
  ])('are refused at once if anything but a long string makes them large: %.12s…', async (body) => {
    const { account } = tenant
    const answer = await account.post('/send-media', body)
    expect(answer).toMatchObject({ status: answer.body.code === 'duplicate_parameter' ? 400 : 413 })
  })

  test.each([
    'a&'.repeat(1e6),
    Array.from({ length: 1000 }, (_, n) => `${n}=${'x'.repeat(1000)}`).join('&'),
    Array.from({ length: 20 }, (_, n) => `${n}=${'x'.repeat(40_000)}`).join('&'),
  ])('are refused if anything but a long form value makes them large: %.12s…', async (form) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await tenant.account.post('/send-media', form, headers)
    expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
  })

  test('return 408 when they arrive too slowly, as small bodies do', async () => {
    const { apiKey } = tenant.account
    const slow = [
      await beginUpload({ apiKey, bytes: 1, length: mebibyte }),
      await beginUpload({ apiKey, bytes: 1, length: 1000 }),
      await beginUpload({ apiKey, bytes: 1 }),
    ]
    const startedAt = performance.now()
    for (const socket of slow) {
      const [answer] = await once(socket, 'data')
      expect(String(answer)).toMatch(/^HTTP\/1.1 408 /)
      expect(String(answer)).toContain('"code":"request_timeout"')
    }
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })

  /** Not those of the gateway above. */
  let bodies: LargeBodies
  beforeEach(() => {
    bodies = makeLargeBodies(memoryBytes)
  })

  /** Admits a body of which `bytes` have arrived and which never gets a response. */
  async function admit(
    { kind, key }: BodySender,
    { bytes, deadlineMs }: { bytes: number; deadlineMs: number },
  ) {
    const exchange = { deadline: new Deadline(deadlineMs), answered: () => new Promise(() => undefined) }
    const admission = bodies.admit(exchange, { kind, key })
    await admission.reserve(bytes)
    return admission
  }

  test('are parsed one at a time per account, which leaves the other slot to others', async () => {
    const handle = async (key: string, deadlineMs: number) => {
      const admission = await admit({ kind: 'account', key }, { bytes: mebibyte, deadlineMs })
      await admission.startParsing()
    }
    await handle('1', 1000)
    await expect(handle('1', 20)).rejects.toMatchObject({ code: 'unavailable' })
    await handle('2', 1000)
    await expect(handle('3', 20)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('without a key take no memory from those of accounts', async () => {
    const whole = { bytes: 12 * mebibyte + 64 * 1024, deadlineMs: 1000 }
    // Two bodies use up the share, the third may finish.
    for (const key of ['1', '2', '3']) await admit({ kind: 'network', key }, whole)
    const fourth = admit({ kind: 'network', key: '4' }, { ...whole, deadlineMs: 20 })
    await expect(fourth).rejects.toMatchObject({ code: 'unavailable' })
    await admit({ kind: 'account', key: '1' }, whole)
  })

  test('count until their handler has finished, even after the response', async () => {
    const hold = (deadline: Deadline, answered: Promise<unknown> = Promise.resolve()) =>
      bodies
        .admit({ deadline, answered: () => answered }, { kind: 'account', key: '1' })
        .reserve(12 * mebibyte + 64 * 1024)
    const first = new Deadline(1000)
    let letGo: () => void = () => undefined
    const handler = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await hold(first, new Promise((resolve) => setImmediate(resolve)))
    void first.run(() => handler)
    // This one may finish without a reservation.
    await hold(new Deadline(1000), new Promise(() => undefined))
    await expect(hold(new Deadline(20))).rejects.toMatchObject({ code: 'unavailable' })
    const fourth = hold(new Deadline(1000))
    letGo()
    await fourth
  })
})
