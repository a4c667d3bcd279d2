import { kindOf, mediaTypes } from '@wagate/shared/message-kinds'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner, storedOf } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const number = '4915199999999'
const parts = { caption: 'Please read', filename: 'name.bin' }
const choices = [{}, { caption: parts.caption }, { filename: parts.filename }, parts]

/** All kinds with all of the parameters that not every kind has. */
const combinations = mediaTypes.flatMap((type) =>
  choices.map((given) => ({ type, given, parts: Object.keys(given).join(' and ') || 'neither' })),
)

test.each(combinations)(
  '$type with $parts shows all of it, or says what it cannot show',
  async ({ type, given }) => {
    const { account, sender } = await createSender(gateway)
    const url = 'https://example.com/file'
    const { status, body } = await account.post('/send-media', { sender, number, type, url, ...given })
    const { hasCaption, hasFilename } = kindOf(type)
    if ('caption' in given && !hasCaption) {
      const message = `is not possible with type ${type}: send the text with send-message`
      expect({ status, body }).toMatchObject({
        status: 400,
        body: { code: 'invalid_parameter', details: [{ parameter: 'caption', message }] },
      })
      expect(await storedOf(account)).toEqual([])
      return
    }
    expect(status).toBe(200)
    expect(body.warnings).toEqual(
      'filename' in given && !hasFilename
        ? [`filename has no effect with type ${type}: phones show the names of documents only.`]
        : undefined,
    )
    expect(await storedOf(account)).toMatchObject([
      { type, caption: 'caption' in given ? parts.caption : null },
    ])
  },
)

test.each([
  ['image', 'GIF89a\x01\0\x01\0', 'Convert it to MP4 and send it with type video'],
  ['image', 'BM\x36\x10\x0e\0\0\0\0\0\x36\0\0\0', 'Convert it to JPEG or PNG'],
  ['video', '\x1a\x45\xdf\xa3\x87\x42\x82\x84webm\0', 'Convert it to MP4'],
  ['image', '%PDF-1.4\n', 'Send it with type document'],
  ['image', '\xff\xfb\x90\0\0\0\0\0', 'Send it with type audio'],
  ['audio', 'RIFF\0\x10\0\0WAVEfmt ', 'Convert it to MP3'],
])('a file that phones do not show as %s is refused with what to do', async (type, bytes, advice) => {
  const { account, sender } = await createSender(gateway)
  const url = `data:;base64,${Buffer.from(bytes, 'latin1').toString('base64')}`
  const { status, body } = await account.post('/send-media', { sender, number, type, url })
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { code: 'invalid_media', error: expect.stringContaining(advice) },
  })
})

test('the name in a data: URL is that of the document, unless the caller gives another', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  const url = 'data:application/pdf;filename=generated.pdf;base64,JVBERi0xLjQK'
  const send = (given: object) =>
    account.post('/send-media', { sender, number, type: 'document', url, ...given })
  expect((await send({})).status).toBe(200)
  expect((await send({ filename: 'own.pdf' })).status).toBe(200)
  const rows = await gateway.db
    .$client`SELECT filename, url FROM messages WHERE device_id = ${deviceId} ORDER BY id`
  expect(rows).toEqual([
    { filename: 'generated.pdf', url: 'data:application/pdf' },
    { filename: 'own.pdf', url: 'data:application/pdf' },
  ])
})

test('a private address is refused with what to do', async () => {
  const { account, sender } = await createSender(gateway)
  const given = { sender, number, type: 'image', url: 'http://127.0.0.1/x.png' }
  const { body } = await account.post('/send-media', given)
  expect(body.error).toMatch(/data: URL.*upload-media.*ALLOW_PRIVATE_MEDIA_HOSTS=true/)
})
