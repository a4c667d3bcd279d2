import { type DownloadableMessage, downloadContentFromMessage, type MediaType, type proto } from 'baileys'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newNumber } from './companion.ts'

let sim: Simulator
let companion: Companion
const contact = newNumber()
beforeAll(async () => {
  sim = await startSimulator()
  companion = await linkedCompanion(sim)
})
afterAll(async () => {
  await companion.end()
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0, unreadable_media: 0 })
  await sim.close()
})

const arrived = (id: string) =>
  companion.until(() => companion.messages.find(({ key }) => key.id === id), 'the message')

async function download(content: DownloadableMessage, type: MediaType): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const directPath = `${content.directPath}`
  const url = `http://${sim.mediaHost}${directPath}`
  for await (const chunk of await downloadContentFromMessage({ ...content, url, directPath: null }, type))
    chunks.push(chunk)
  return Buffer.concat(chunks)
}

test.each([
  ['picture', 'image', { imageMessage: { width: 64, height: 48 } }],
  ['video', 'video', { videoMessage: { seconds: 2 } }],
  ['gif', 'video', { videoMessage: { seconds: 2, gifPlayback: true } }],
  ['video_note', 'ptv', { ptvMessage: { seconds: 2, width: 64, height: 64 } }],
  ['audio', 'audio', { audioMessage: { mimetype: 'audio/ogg; codecs=opus' } }],
  ['voice_note', 'audio', { audioMessage: { seconds: 2, ptt: true } }],
  ['sticker', 'sticker', { stickerMessage: { mimetype: 'image/webp' } }],
  ['animated_sticker', 'sticker', { stickerMessage: { isAnimated: true } }],
  ['document', 'document', { documentMessage: { fileName: 'page.pdf', mimetype: 'application/pdf' } }],
] as const)('a %s is sent as phones send it, with a real file', async (as, type, expected) => {
  const { wa_message_id: id } = await sim.send(contact, { to: companion.number, as })
  const { message } = await arrived(id)
  expect(message).toMatchObject(expected)
  const [field] = Object.keys(expected) as (keyof proto.IMessage)[]
  const content = message?.[field as 'imageMessage']
  const bytes = await download(content as DownloadableMessage, type as MediaType)
  expect(bytes.length).toBe(Number(content?.fileLength))
  expect(sim.messages(companion.number).at(-1)).toMatchObject({ type, size: bytes.length })
})
