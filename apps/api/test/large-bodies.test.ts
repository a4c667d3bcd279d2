import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Deadline } from '../src/http/deadline.ts'
import { makeLargeBodies } from '../src/http/large-bodies.ts'
import { createSender, type Gateway, ownShards, startGateway } from './gateway.ts'

const mebibyte = 2 ** 20
const number = '4915199999999'

let gateway: Gateway
let sender: Awaited<ReturnType<typeof createSender>>
const uploads: Socket[] = []

beforeAll(async () => {
  gateway = await startGateway({ BODY_MEMORY_BYTES: String(24 * mebibyte) })
  await ownShards(gateway)
  sender = await createSender(gateway)
})
afterAll(() => gateway.close())
afterEach(() => {
  for (const socket of uploads.splice(0)) socket.destroy()
})

/** Announces a body of which it sends no more than this, and waits. */
async function beginUpload(bytes: number, apiKey?: string): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  uploads.push(socket)
  socket.on('error', () => undefined)
  const credential = apiKey ? `X-Api-Key: ${apiKey}\r\n` : ''
  socket.write(
    `POST /send-media HTTP/1.1\r\nHost: x\r\n${credential}Content-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n{`,
  )
  await once(socket, 'connect')
  return socket
}

function send(bytes: number) {
  const url = `data:application/pdf;base64,${Buffer.alloc(bytes).toString('base64')}`
  return sender.account.post('/send-media', { sender: sender.sender, number, type: 'document', url })
}

describe('large bodies', () => {
  test('are refused when there is no memory for them, and taken when there is', async () => {
    const { apiKey } = sender.account
    const held = await beginUpload(23 * mebibyte, apiKey)
    // Whether the upload has begun is seen by what it leaves for others.
    const refused = await vi.waitFor(
      async () => {
        const answer = await send(2 * mebibyte)
        expect(answer.status).toBe(503)
        return answer
      },
      { timeout: 20_000, interval: 10 },
    )
    expect(refused.body.code).toBe('unavailable')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // Small bodies of the same operation do not wait.
    expect((await send(1000)).status).toBe(200)
    held.destroy()
    expect((await send(2 * mebibyte)).status).toBe(200)
  })

  test('of strangers keep nobody out who has a key', async () => {
    for (let n = 0; n < 5; n++) await beginUpload(24 * mebibyte)
    expect((await send(2 * mebibyte)).status).toBe(200)
  })

  test('that are refused for another reason give their memory back', async () => {
    const url = `data:image/png;base64,${Buffer.alloc(15 * mebibyte).toString('base64')}`
    for (let n = 0; n < 3; n++) {
      const answer = await sender.account.post('/send-media', {
        sender: sender.sender,
        number,
        type: 'image',
        url,
      })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_media' } })
    }
  })

  test('of which many come at once are all answered, and some are taken', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(4 * mebibyte)))
    const statuses = new Set(answers.map(({ status }) => status))
    expect(statuses).toContain(200)
    for (const status of statuses) expect([200, 503]).toContain(status)
  })

  test('of which the handler has not let go count after their callers were answered', async () => {
    const bodies = makeLargeBodies(mebibyte)
    const enter = (deadline: Deadline, answered = Promise.resolve()) =>
      bodies.admit({ deadline, answered: () => answered }, 'account').toRead(mebibyte)
    const first = new Deadline(1000)
    let letGo: () => void = () => undefined
    const handler = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await enter(first, new Promise((resolve) => setImmediate(resolve)))
    void first.run(() => handler)
    await expect(enter(new Deadline(20))).rejects.toMatchObject({ code: 'unavailable' })
    const third = enter(new Deadline(1000))
    letGo()
    await third
  })
})
