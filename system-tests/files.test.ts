import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileCases } from '@wagate/test-kit/media/file-cases'
import { files } from '@wagate/test-kit/media/make-files'
import { makeMp4, makeVoiceNote, turnedJpeg } from '@wagate/test-kit/media/make-recordings'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'

type Fields = Record<string, unknown>

const sender = '15552087301'
const minute = { withinMs: 60_000, everyMs: 100 }
let system: TestSystem
let host: Server
let numbers = 15_552_087_310
/** What the host answers, by path. */
const pages = new Map<string, { head: Record<string, string>; bytes: Buffer }>()

beforeAll(async () => {
  system = await openTestSystem()
  await system.gateway.link(sender)
  host = createServer(({ url }, response) => {
    const { head, bytes } = pages.get(url ?? '') ?? { head: {}, bytes: Buffer.alloc(0) }
    response.writeHead(200, head).end(bytes)
  }).listen(0, '127.0.0.1')
  await once(host, 'listening')
}, 60_000)
afterAll(async () => {
  host?.close()
  await system?.close()
}, 30_000)

/** The message as the phone of a new recipient shows it. */
async function sent(given: Fields) {
  const { gateway } = system
  const number = String(numbers++)
  const { status, body } = await gateway.call('send-media', { sender, number, ...given })
  expect({ status, body }).toMatchObject({ status: 200 })
  await gateway.untilStatus(String(body.message_id), 'delivered')
  const [message] = await gateway.phone(number, sender)
  return message
}

const dataUrl = (bytes: Buffer, parameters = '') => `data:${parameters};base64,${bytes.toString('base64')}`

/** Every eleventh: the table is proved in apps/worker/test/sent-documents.test.ts. */
const examples = fileCases.filter(([, { path }], at) => at % 11 === 0 && !path?.startsWith('/moved-to'))

test.concurrent.each(examples)(
  '%s of which is said %o reaches a phone as %s, %s',
  async (file, said, mime, filename) => {
    const { path = `/${numbers}/`, type, disposition, filename: given } = said
    const head = {
      ...(type && { 'content-type': type }),
      ...(disposition && { 'content-disposition': disposition }),
    }
    pages.set(path, { head, bytes: files[file] })
    const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}${path}`
    expect(await sent({ type: 'document', url, ...(given && { filename: given }) })).toMatchObject({
      type: 'document',
      mime,
      file: { filename },
    })
  },
)

test.concurrent('a data: URL names its document', async () => {
  const url = dataUrl(files.csvOfBmi, 'text/csv;filename=Gr%C3%B6%C3%9Fen')
  expect(await sent({ type: 'document', url })).toMatchObject({
    mime: 'text/csv',
    file: { filename: 'Größen.csv' },
  })
})

test.concurrent('a picture, a film without sound and recordings arrive with the facts that phones show', async () => {
  const shown = await Promise.all([
    sent({ type: 'image', url: dataUrl(turnedJpeg) }),
    sent({
      type: 'video',
      url: dataUrl(makeMp4('isom', 10, [{ kind: 'video', width: 640, height: 360, rotation: 90 }])),
    }),
    sent({ type: 'audio', url: dataUrl(makeMp4('isom', 10, [{ kind: 'audio' }])) }),
    sent({ type: 'audio', url: dataUrl(makeVoiceNote(7)) }),
  ])
  expect(shown).toMatchObject([
    {
      type: 'image',
      mime: 'image/jpeg',
      file: { width: 32, height: 64, preview: expect.stringMatching(/^\/9j\//) },
    },
    { type: 'video', mime: 'video/mp4', file: { width: 360, height: 640, seconds: 10, preview: null } },
    { type: 'audio', mime: 'audio/mp4', file: { seconds: 10 } },
    { type: 'audio', mime: 'audio/ogg; codecs=opus', file: { seconds: 7 } },
  ])
})

test.concurrent('a film cannot be sent as audio, which its tracks tell', async () => {
  const { gateway } = system
  const url = dataUrl(makeMp4('isom', 10, [{ kind: 'video', width: 16, height: 16 }, { kind: 'audio' }]))
  const { body } = await gateway.call('send-media', { sender, number: String(numbers++), type: 'audio', url })
  const failed = await gateway.untilMessage(body.message_id, 'failed', ({ status }) => status === 'failed')
  expect(failed.error_code).toBe('media_type_mismatch')
})

const octets = 'application/octet-stream'

test.concurrent.each([
  ['csv', octets, 'a.csv', 'text/csv', 'a.csv'],
  ['csvOfBmi', 'text/csv', 'b.csv', 'text/csv', 'b.csv'],
  ['html', octets, 'page', 'text/html', 'page'],
  ['cfb', 'application/vnd.ms-excel', 'table.xls', 'application/vnd.ms-excel', 'table.xls'],
  ['kmz', octets, 'tour.kmz', 'application/vnd.google-earth.kmz', 'tour.kmz'],
  ['pdf', 'text/plain', 'Invoice 12/2026.pdf', 'application/pdf', 'Invoice 12_2026.pdf'],
  ['exe', 'application/pdf', 'invoice\u202Efdp.exe', 'application/x-msdownload', 'invoicefdp.exe'],
  ['isom', 'audio/mp4', 'voice.m4a', 'audio/mp4', 'voice.m4a'],
] as const)(
  '%s that a contact sends as %s, %j is received as %s, %s',
  async (file, declared, given, mime, filename) => {
    const { gateway } = system
    const { wa_message_id } = await gateway.control<{ wa_message_id: string }>(`/chats/${numbers++}/send`, {
      to: sender,
      file: files[file].toString('base64'),
      mime: declared,
      filename: given,
    })
    const media = await until('the file is stored', minute, async () => {
      const messages = (await gateway.history()) as unknown as {
        wa_message_id: string
        media: Fields | null
      }[]
      const found = messages.find((message) => message.wa_message_id === wa_message_id)?.media
      return found?.state === 'stored' ? found : undefined
    })
    expect(media).toMatchObject({ mime, filename })
    expect(media.declared_mime).toBe(declared === mime ? undefined : declared)
  },
)
