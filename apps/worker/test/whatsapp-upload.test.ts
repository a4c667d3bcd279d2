import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WhatsAppRoute } from '../src/session/network/whatsapp-route.ts'
import { makeWhatsAppUpload } from '../src/session/network/whatsapp-upload.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const folder = mkdtempSync(join(tmpdir(), 'wagate-upload-'))
const file = join(folder, 'file')
const bytes = Buffer.alloc(300_000, 'a')
writeFileSync(file, bytes)

let server: Server
let answers: Answer[] = []
let asked: { path: string; size: number }[] = []

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, resolve))
})
beforeEach(() => {
  answers = []
  asked = []
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let size = 0
  for await (const chunk of request) size += chunk.length
  asked.push({ path: request.url ?? '', size })
  answers.shift()?.(response, request)
}

const stored: Answer = (response) =>
  response.end('{"url":"https://mmg.whatsapp.net/v/1","direct_path":"/v/1"}')
const place = { mediaUrl: 'https://mmg.whatsapp.net/v/1', directPath: '/v/1' }

const limits = { idleMs: 500, baseMs: 1000, bytesPerSecondMin: 10_000_000 }

/** As Baileys calls it. WhatsApp names two hosts, and a new `auth` each time that it is asked anew. */
function upload(route: WhatsAppRoute): Promise<unknown> {
  let auth = 1
  const refreshMediaConn = async (isForced?: boolean) => {
    if (isForced) auth += 1
    const hosts = ['mmg.whatsapp.net', 'media.whatsapp.net'].map((hostname) => ({
      hostname,
      maxContentLengthBytes: 1,
    }))
    return { hosts, auth: `auth ${auth}`, ttl: 60, fetchDate: new Date() }
  }
  return makeWhatsAppUpload(
    { refreshMediaConn },
    route,
    limits,
  )(file, { mediaType: 'image', fileEncSha256B64: 'ab+/c=' })
}

const simulatedHost = () => `127.0.0.1:${(server.address() as AddressInfo).port}`
const uploadSimulated = () => upload(new WhatsAppRoute({ simulatedHost: simulatedHost() }))

test('a file is stored at the first host that takes it', async () => {
  answers = [stored]
  expect(await uploadSimulated()).toEqual(place)
  expect(asked).toEqual([{ path: '/mms/image/ab-_c?auth=auth%201&token=ab-_c', size: bytes.length }])
})

test('a host that refuses is followed by the next one, with what WhatsApp names anew', async () => {
  answers = [(response) => response.writeHead(401).end('{}'), stored]
  expect(await uploadSimulated()).toEqual(place)
  expect(asked.map(({ path }) => path)).toEqual([
    '/mms/image/ab-_c?auth=auth%201&token=ab-_c',
    '/mms/image/ab-_c?auth=auth%202&token=ab-_c',
  ])
})

test('a redirect is followed, and the whole file is sent again', async () => {
  answers = [(response) => response.writeHead(307, { location: '/elsewhere' }).end(), stored]
  expect(await uploadSimulated()).toEqual(place)
  expect(asked).toEqual([expect.anything(), { path: '/elsewhere', size: bytes.length }])
})

test('a redirect to another host is not followed', async () => {
  const other = `http://127.0.0.2:${(server.address() as AddressInfo).port}/other`
  const moved: Answer = (response) => response.writeHead(307, { location: other }).end()
  answers = [moved, moved]
  await expect(uploadSimulated()).rejects.toThrow('not one of WhatsApp')
  expect(asked.map(({ path }) => path)).not.toContain('/other')
})

describe('an upload ends by its deadline', () => {
  const drip: Answer = (response) => {
    const timer = setInterval(() => response.write(' '), 50)
    response.on('close', () => clearInterval(timer))
  }
  test.each<{ peer: string; first: Answer }>([
    { peer: 'breaks off in the middle of its answer', first: (response) => cut(response, '{"url":') },
    {
      peer: 'breaks off a chunked answer',
      first: (response) => {
        response.write('{"url":')
        setImmediate(() => response.destroy())
      },
    },
    { peer: 'closes without an answer', first: (response) => response.destroy() },
    { peer: 'answers with something else', first: (response) => response.end('<html>') },
    { peer: 'answers without an end', first: (response) => flood(response) },
    { peer: 'redirects without an end', first: (response) => moveOn(response) },
    { peer: 'stays silent', first: () => undefined },
  ])('with the next host when the first one $peer', async ({ first }) => {
    answers = [first, stored]
    expect(await uploadSimulated()).toEqual(place)
  })

  test('with an error when a host answers a byte at a time', async () => {
    answers = [drip]
    await expect(uploadSimulated()).rejects.toThrow('The deadline has passed')
  })

  test('with an error when WhatsApp does not say where to', async () => {
    const silent = makeWhatsAppUpload(
      { refreshMediaConn: () => new Promise(() => {}) },
      new WhatsAppRoute({}),
      limits,
    )
    await expect(silent(file, { mediaType: 'image', fileEncSha256B64: 'ab' })).rejects.toThrow(
      'The deadline has passed',
    )
  })

  test('with the last error when no host takes the file', async () => {
    answers = [(response) => response.writeHead(500).end(), (response) => response.writeHead(507).end('{}')]
    await expect(uploadSimulated()).rejects.toThrow('status 507')
  })
})

test('on the live network a host whose name resolves to a private address gets no file', async () => {
  const lookedUp: string[] = []
  const lookup: LookupFunction = (hostname, _options, callback) => {
    lookedUp.push(hostname)
    callback(null, [{ address: '10.0.0.5', family: 4 }])
  }
  await expect(upload(new WhatsAppRoute({ lookup }))).rejects.toThrow()
  expect(lookedUp).toEqual(['mmg.whatsapp.net', 'media.whatsapp.net'])
})

function cut(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-length': 100 }).write(text)
  setImmediate(() => response.destroy())
}

function flood(response: ServerResponse): void {
  response.on('error', () => undefined)
  response.end('a'.repeat(200_000))
}

/** The next answers, too: six are asked for. */
function moveOn(response: ServerResponse): void {
  const again: Answer = (next) => next.writeHead(307, { location: '/again' }).end()
  answers.unshift(again, again, again, again, again)
  again(response, {} as IncomingMessage)
}
