import { randomBytes } from 'node:crypto'
import { downloadMediaMessage, prepareWAMessageMedia, WA_CERT_DETAILS, type WAMessage } from 'baileys'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { socketOptions } from '../src/socket-options.ts'
import { type Companion, linkedCompanion, newId, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

let sim: Simulator
let companion: Companion

beforeAll(async () => {
  sim = await startSimulator()
  companion = await linkedCompanion(sim)
}, 30_000)
afterAll(async () => {
  await companion.end()
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

function download(message: WAMessage): Promise<Buffer> {
  return downloadMediaMessage(message, 'buffer', { options: socketOptions(sim, WA_CERT_DETAILS).options })
}

async function receive(mime: string, body: Buffer): Promise<WAMessage> {
  const { wa_message_id: id } = await sim.send(newNumber(), {
    to: companion.number,
    text: 'look',
    file: { body, mime },
  })
  return companion.until(() => companion.messages.find(({ key }) => key.id === id), 'the message')
}

it.each([
  ['image/jpeg', 'imageMessage'],
  ['video/mp4', 'videoMessage'],
  ['audio/ogg', 'audioMessage'],
  ['application/pdf', 'documentMessage'],
] as const)('sends a file of %s from a phone', async (mime, field) => {
  const body = randomBytes(5000)
  const message = await receive(mime, body)
  expect(message.message?.[field]).toMatchObject({ mimetype: mime })
  expect(await download(message)).toEqual(body)
})

it('uploads an expired file again when a companion asks its phone for it', async () => {
  const body = randomBytes(5000)
  const message = await receive('image/jpeg', body)
  const path = message.message?.imageMessage?.directPath
  sim.fault({ kind: 'media_expire', code: 410 })
  await expect(download(message)).rejects.toMatchObject({ output: { statusCode: 410 } })
  expect(await download(await companion.sock.updateMediaMessage(message))).toEqual(body)
  expect(message.message?.imageMessage?.directPath).not.toBe(path)
  await eventually(
    () => sim.phones().find(({ number }) => number === companion.number)?.companions[0]?.pending,
  ).toBe(0)
  sim.clearFaults()
})

it('says so when the phone does not have the file', async () => {
  const message = await receive('image/jpeg', randomBytes(50))
  const unknown = { ...message, key: { ...message.key, id: 'UNKNOWN' } }
  await expect(companion.sock.updateMediaMessage(unknown)).rejects.toMatchObject({
    output: { statusCode: 404 },
  })
})

it('shows no content of a file that has expired before its recipient fetches it', async () => {
  const to = newNumber()
  const { sock } = companion
  const message = await prepareWAMessageMedia(
    { image: randomBytes(50), mimetype: 'image/jpeg', jpegThumbnail: Buffer.alloc(1).toString('base64') },
    { upload: sock.waUploadToServer },
  )
  sim.fault({ kind: 'media_expire', code: 404 })
  await sock.relayMessage(`${to}@s.whatsapp.net`, message, { messageId: newId() })
  await eventually(() => sim.messages(to)).toMatchObject([{ type: 'image', sha256: null }])
  sim.clearFaults()
})
