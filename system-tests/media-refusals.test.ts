import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const sender = '15550600001'
const imageBytesMax = 50_000
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
const as =
  (type: string, body: string | Buffer): RequestListener =>
  (_, response) =>
    response.writeHead(200, { 'content-type': type }).end(body)

/** What a host may answer that is no image, and what the message that asked for one ends with. */
const answers: Record<string, { code: string; answer: RequestListener; error?: string }> = {
  '/missing': {
    code: 'media_fetch_failed',
    error: 'The media URL could not be fetched: its host answered with status 404.',
    answer: (_, response) => response.writeHead(404).end(),
  },
  '/gif': {
    code: 'media_type_mismatch',
    error:
      'The media file is not of the given type: detected image/gif. Convert it to MP4 and send it with type video, or send it with type document.',
    answer: as('image/jpeg', 'GIF89a\x01\0\x01\0'),
  },
  '/packed': {
    code: 'media_too_large',
    answer: (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(10_000_000))),
  },
  '/circle': {
    code: 'media_fetch_failed',
    answer: (_, response) => response.writeHead(302, { location: '/circle' }).end(),
  },
  '/to-file': {
    code: 'media_url_forbidden',
    answer: (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  },
  '/large': {
    code: 'media_too_large',
    answer: (_, response) => response.end(Buffer.alloc(imageBytesMax + 1)),
  },
  '/endless': {
    code: 'media_too_large',
    answer: (_, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(4096)), 1)
      response.on('close', () => clearInterval(timer))
    },
  },
  '/empty': { code: 'invalid_media', answer: (_, response) => response.end() },
  '/page': { code: 'media_type_mismatch', answer: as('image/png', '<!doctype html><title>x</title>') },
  '/svg': { code: 'media_type_mismatch', answer: as('image/svg+xml', svg) },
  '/svg-as-png': { code: 'media_type_mismatch', answer: as('image/png', `<?xml version="1.0"?>${svg}`) },
  '/pdf': { code: 'media_type_mismatch', answer: as('image/jpeg', '%PDF-1.4\n%%EOF\n') },
}
let failures = 2
/** Each fails twice: with a status, and with a body that breaks off. */
const recovering: RequestListener = (_, response) => {
  failures -= 1
  if (failures === 1) response.writeHead(503).end()
  else if (failures === 0) response.writeHead(200).write('abc', () => response.destroy())
  else response.end(mediaSamples.find(({ type }) => type === 'image')?.bytes)
}
const drip: RequestListener = (_, response) => {
  const timer = setInterval(() => response.write('x'), 50)
  response.on('close', () => clearInterval(timer))
}

let system: TestSystem
let gateway: GatewayClient
let host: Server
/** For each answer: its message, and a text to another recipient that was accepted after it. */
const messages = new Map<string, { lost: unknown; text: unknown }>()
const drips = new Set<unknown>()

beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    environment: { MEDIA_IMAGE_BYTES_MAX: String(imageBytesMax) },
  })
  gateway = system.gateway
  host = createServer((request, response) => {
    const answer = request.url === '/recovering' ? recovering : answers[request.url ?? '']?.answer
    ;(answer ?? drip)(request, response)
  })
  host.listen(0, '127.0.0.1')
  await gateway.link(sender)
  // Two of the four uploads that a sender may have at a time wait for hosts that never come to an end.
  for (const n of [0, 1]) drips.add(await sendMedia('/drip', 90 + n))
  for (const [n, path] of Object.keys(answers).entries()) {
    messages.set(path, { lost: await sendMedia(path, n), text: await sendText(50 + n) })
  }
}, 60_000)

afterAll(async () => {
  host?.closeAllConnections()
  host?.close()
  await system?.close()
}, 30_000)

async function sendMedia(path: string, n: number): Promise<unknown> {
  const { port } = host.address() as AddressInfo
  const url = `http://127.0.0.1:${port}${path}`
  const answer = await gateway.call('send-media', { sender, number: recipientOf(n), type: 'image', url })
  expect(answer).toMatchObject({ status: 200, body: { status: 'queued' } })
  return answer.body.message_id
}

const sendText = (n: number) => gateway.send(sender, recipientOf(n), 'a text')

const recipientOf = (n: number) => String(15_550_601_000 + n)

describe('media that cannot be sent', () => {
  it.each(Object.entries(answers).map(([path, { code }]) => ({ path, code })))(
    'end a message with its code, and let texts to others pass ($path: $code)',
    async ({ path, code }) => {
      const { lost, text } = messages.get(path) ?? {}
      await gateway.untilMessage(text, 'is delivered', ({ status }) => status === 'delivered')
      const failed = await gateway.untilMessage(lost, 'failed', ({ status }) => status === 'failed')
      expect(failed.error_code).toBe(code)
      const { error } = answers[path] ?? {}
      if (error) expect(failed).toMatchObject({ error })
    },
  )

  it('are one thing, media that may come later another: they wait', async () => {
    const dripping = (await gateway.history()).filter(({ message_id }) => drips.has(message_id))
    expect(dripping.map(({ status }) => status)).toEqual(['queued', 'queued'])
  })

  it('are not those of a host that fails for a while: they are sent when it is back', async () => {
    const recovered = await sendMedia('/recovering', 80)
    await gateway.untilMessage(recovered, 'is delivered', ({ status }) => status === 'delivered')
    expect(failures).toBeLessThan(0)
  })
})
