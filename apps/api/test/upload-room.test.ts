import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { makeNoisePng } from '@wagate/test-kit/media/media-samples'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Gateway, startGateway } from './gateway.ts'

const mebibyte = 2 ** 20
const picture = makeNoisePng(100)

let gateway: Gateway
beforeAll(async () => {
  const bytesMax = String(mebibyte)
  gateway = await startGateway({
    MEDIA_IMAGE_BYTES_MAX: bytesMax,
    MEDIA_AUDIO_BYTES_MAX: bytesMax,
    MEDIA_VIDEO_BYTES_MAX: bytesMax,
    MEDIA_DOCUMENT_BYTES_MAX: bytesMax,
  })
})
afterAll(() => gateway.close())

type Account = Awaited<ReturnType<Gateway['createAccount']>>

const upload = (account: Account) =>
  account.request('/upload-media', { method: 'POST', body: new Uint8Array(picture) })

const staged = () => readdir(join(gateway.mediaFolder, 'unfinished')).catch((): string[] => [])

/** Sends the beginning of a file that never ends. */
async function beginUpload({ apiKey }: Account, headers: string, start = ''): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  const before = await staged()
  socket.write(`POST /upload-media HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKey}\r\n${headers}\r\n\r\n${start}`)
  const added = async () => (await staged()).filter((name) => !before.includes(name))
  await vi.waitFor(async () => expect(await added()).toHaveLength(1), eventually)
  return socket
}

const wholeFile = `Content-Length: ${mebibyte}`
const partHead = '--x\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'

test.each([
  ['of a known size', wholeFile, ''],
  ['of an unknown size', 'Transfer-Encoding: chunked', ''],
  ['in a form', `Content-Type: multipart/form-data; boundary=x\r\n${wholeFile}`, partHead],
])('a file %s that arrives slowly takes its room from its own account alone', async (_, headers, start) => {
  const [slow, other] = [await gateway.createAccount(), await gateway.createAccount()]
  const socket = await beginUpload(slow, headers, start)
  const [refused, taken] = await Promise.all([upload(slow), upload(other)])
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited', limit: 'file-uploads' } })
  expect(taken.status).toBe(200)
  socket.destroy()
  expect((await upload(slow)).status).toBe(200)
})

test('files of many accounts have no more bytes together than there is room for', async () => {
  const account = await gateway.createAccount()
  const others = await Promise.all([1, 2, 3, 4].map(() => gateway.createAccount()))
  const sockets = []
  for (const other of others) sockets.push(await beginUpload(other, wholeFile))
  expect(await upload(account)).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  sockets[0]?.destroy()
  expect((await upload(account)).status).toBe(200)
  for (const socket of sockets) socket.destroy()
})

test('small files of an account arrive at the same time', async () => {
  const account = await gateway.createAccount()
  const small = `Content-Length: ${mebibyte / 8}`
  const sockets = []
  while (sockets.length < 6) sockets.push(await beginUpload(account, small))
  expect((await upload(account)).status).toBe(200)
  for (const socket of sockets) socket.destroy()
})
