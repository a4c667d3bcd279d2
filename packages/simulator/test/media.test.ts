import { createHash, randomBytes } from 'node:crypto'
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
