import { createHash, randomBytes } from 'node:crypto'
import type { AnyMessageContent } from 'baileys'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

let sim: Simulator
let companion: Companion
beforeAll(async () => {
  sim = await startSimulator()
  companion = await linkedCompanion(sim)
})
afterAll(async () => {
  await companion.end()
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

test('reports a file that cannot be decrypted', async () => {
  const blind = await linkedCompanion(sim, newNumber(), {
    // The caller claims another checksum than the file has.
    patchMessageBeforeSending: (message) => {
      const document = message.documentMessage
      return document
        ? { ...message, documentMessage: { ...document, fileSha256: randomBytes(32) } }
        : message
    },
  })
  const to = newNumber()
  const before = sim.stats().unreadable_media
  await blind.send(to, { document: randomBytes(100), fileName: 'a', mimetype: 'text/plain' })
  await eventually(() => sim.messages(to)).toMatchObject([{ sha256: null, size: null }])
  expect(sim.stats().unreadable_media).toBeGreaterThan(before)
  await blind.end()
})

const png = PNG.sync.write(new PNG({ width: 40, height: 30 }))
const other = randomBytes(100_003)

test.each([
  { type: 'image', bytes: png, content: { image: png, caption: 'a picture', mimetype: 'image/png' } },
  {
    type: 'document',
    bytes: other,
    content: { document: other, fileName: 'a.pdf', mimetype: 'application/pdf', caption: 'a paper' },
  },
  { type: 'audio', bytes: other, content: { audio: other, mimetype: 'audio/mp4', seconds: 1 } },
  {
    type: 'video',
    bytes: other,
    content: { video: other, mimetype: 'video/mp4', jpegThumbnail: '', caption: 'a film' },
  },
])('decrypts an uploaded $type', async ({ type, bytes, content }) => {
  const to = newNumber()
  const { ack } = await companion.send(to, content)
  await ack
  await eventually(() => sim.messages(to).length).toBe(1)
  expect(sim.messages(to)[0]).toMatchObject({
    type,
    text: null,
    caption: 'caption' in content ? content.caption : null,
    mime: content.mimetype,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    size: bytes.length,
  })
})

const bytes = randomBytes(50)
const fileName = 'Rechnung "für" 1.pdf'

test.each([
  { mimetype: 'image/png', content: { image: bytes, jpegThumbnail: '' }, type: 'image/png', way: 'inline' },
  { mimetype: 'audio/ogg; codecs=opus', content: { audio: bytes }, type: 'audio/ogg', way: 'inline' },
  { mimetype: 'video/mp4', content: { video: bytes, jpegThumbnail: '' }, type: 'video/mp4', way: 'inline' },
  {
    mimetype: 'text/html',
    content: { document: bytes, fileName },
    type: 'application/octet-stream',
    way: 'attachment',
  },
  {
    mimetype: 'image/svg+xml',
    content: { image: bytes, jpegThumbnail: '' },
    type: 'application/octet-stream',
    way: 'attachment',
  },
])(
  'shows the file of a message of the type $mimetype, which runs nothing',
  async ({ mimetype, content, type, way }) => {
    const to = newNumber()
    const { ack } = await companion.send(to, { ...content, mimetype } as AnyMessageContent)
    await ack
    await eventually(() => sim.messages(to).length).toBe(1)
    const { wa_message_id: id, from } = sim.messages(to)[0] ?? { wa_message_id: '', from: '' }
    const open = (query: string) => fetch(`${sim.controlUrl}/chats/${to}/media?${query}`)
    const answer = await open(`wa_message_id=${id}&from=${from}`)
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true)
    expect(answer.headers.get('content-type')).toBe(type)
    expect(answer.headers.get('content-disposition')).toMatch(new RegExp(`^${way};`))
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    if ('document' in content) {
      expect(answer.headers.get('content-disposition')).toContain("UTF-8''Rechnung%20%22f%C3%BCr%22%201.pdf")
      expect(sim.timeline(to)).toMatchObject([{ filename: fileName }])
    }
    const sent = await fetch(`${sim.controlUrl}/chats/${from}/media?wa_message_id=${id}`)
    expect(Buffer.from(await sent.arrayBuffer()).equals(bytes)).toBe(true)
    expect((await open(`wa_message_id=${id}`)).status).toBe(404)
    expect((await open(`wa_message_id=x&from=${from}`)).status).toBe(404)
  },
)
