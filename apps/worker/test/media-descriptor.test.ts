import { randomBytes } from 'node:crypto'
import type { proto, WAMessageKey } from 'baileys'
import { describe, expect, it } from 'vitest'
import { readMasterKeys } from '../src/config/master-keys.ts'
import { makeVault } from '../src/session/credentials/vault.ts'
import { makeCleaner } from '../src/session/receiving/cleaner.ts'
import { readKind } from '../src/session/receiving/kinds/find-kind.ts'
import { mediaUrlOf, readMediaDescriptor as readFile } from '../src/session/receiving/media-descriptor.ts'
import { newReceivedMedia } from '../src/session/receiving/store-received.ts'

const key = { id: '3EB0', remoteJid: '4915187654321@s.whatsapp.net' }
const media = {
  directPath: '/v/t62/file?oe=1',
  mediaKey: Buffer.alloc(32, 1),
  fileSha256: Buffer.alloc(32, 2),
  fileLength: 1234,
  mimetype: 'Audio/Ogg; codecs=opus',
}

function readMediaDescriptor(message: proto.IMessage, key: WAMessageKey) {
  const file = readKind(message, makeCleaner())?.file
  return file && readFile(file, key)
}

describe('a descriptor', () => {
  it.each([
    ['imageMessage', 'image'],
    ['stickerMessage', 'image'],
    ['videoMessage', 'video'],
    ['ptvMessage', 'video'],
    ['audioMessage', 'audio'],
    ['documentMessage', 'document'],
  ])('of a %s is one of the kind %s', (field, kind) => {
    expect(readMediaDescriptor({ [field]: media }, key)).toMatchObject({
      kind,
      declaredMime: 'audio/ogg',
      size: 1234,
      source: { kind, path: '/v/t62/file?oe=1', waId: '3EB0' },
    })
  })

  it('of a text does not exist', () => {
    expect(readMediaDescriptor({ conversation: 'hello' }, key)).toBeUndefined()
  })

  it.each([':9443/x', '.example.com/x', '@example.com/x', 'x', 'x'.repeat(3000)])(
    'has no source for the path %s',
    (directPath) => {
      expect(readMediaDescriptor({ imageMessage: { ...media, directPath } }, key)?.source).toBeNull()
    },
  )

  it.each([
    'http://mmg.whatsapp.net/x',
    'https://mmg.whatsapp.net.example.com/x',
    'https://127.0.0.1/x',
    'https://user@mmg.whatsapp.net/x',
    'file:///etc/passwd',
  ])('has no source for the URL %s', (url) => {
    expect(readMediaDescriptor({ imageMessage: { ...media, directPath: null, url } }, key)?.source).toBeNull()
  })

  it.each([
    ['a short key', { mediaKey: Buffer.alloc(31) }],
    ['no hash', { fileSha256: null }],
    ['no size', { fileLength: 0 }],
    ['a size that is no number', { fileLength: Number.NaN }],
  ])('has no source with %s', (_, change) => {
    expect(readMediaDescriptor({ imageMessage: { ...media, ...change } }, key)?.source).toBeNull()
  })

  it.each(['text/html\r\nx: y', 'a'.repeat(200), ''])('does not repeat the type %s', (mimetype) => {
    expect(readMediaDescriptor({ imageMessage: { ...media, mimetype } }, key)?.declaredMime).toBeNull()
  })
})

it.each(['@example.com/x', ':1/x', 'https://example.com/x', '//example.com/x'])(
  'a path %s from a phone leads to no other host',
  (path) => {
    expect(mediaUrlOf(path)?.hostname ?? 'mmg.whatsapp.net').toBe('mmg.whatsapp.net')
  },
)

it('with RECEIVED_MEDIA=false, nothing that opens a file is stored', () => {
  const descriptor = {
    kind: 'image' as const,
    source: { kind: 'image' as const, path: '/file', mediaKey: 'a2V5', waId: 'x', chatJid: 'y' },
    declaredMime: 'image/jpeg',
    filename: null,
    size: 1,
    sha256: null,
  }
  const vault = makeVault(readMasterKeys(randomBytes(32)), 1)
  const bytesMax = { image: 9, video: 9, audio: 9, document: 9 }
  const storedIf = (isEnabled: boolean) =>
    newReceivedMedia(descriptor, 'message', vault, { isEnabled, bytesMax })
  expect(storedIf(true)).toMatchObject({ state: 'pending', sealed: expect.anything() })
  expect(storedIf(false)).toMatchObject({ state: 'unavailable', reason: 'disabled' })
  expect(storedIf(false)).not.toHaveProperty('sealed')
})
