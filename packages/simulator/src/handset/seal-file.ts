import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { MediaStore } from '../network/media-store.ts'

const macBytes = 10
const names = {
  'md-app-state': 'App State',
  'md-msg-hist': 'History',
  image: 'Image',
  video: 'Video',
  audio: 'Audio',
  document: 'Document',
}

/** How a client finds and opens a file. */
export type SealedFile = {
  mediaKey: Buffer
  directPath: string
  fileSha256: Buffer
  fileEncSha256: Buffer
}

/** Encrypts a file and puts it where clients download it. */
export function sealFile(store: MediaStore, kind: keyof typeof names, file: Uint8Array): SealedFile {
  const mediaKey = randomBytes(32)
  const keys = Buffer.from(hkdfSync('sha256', mediaKey, '', `WhatsApp ${names[kind]} Keys`, 112))
  const iv = keys.subarray(0, 16)
  const cipher = createCipheriv('aes-256-cbc', keys.subarray(16, 48), iv)
  const ciphertext = Buffer.concat([cipher.update(file), cipher.final()])
  const mac = createHmac('sha256', keys.subarray(48, 80)).update(iv).update(ciphertext).digest()
  const sealed = Buffer.concat([ciphertext, mac.subarray(0, macBytes)])
  return {
    mediaKey,
    directPath: store.add(kind, sealed),
    fileSha256: hash(file),
    fileEncSha256: hash(sealed),
  }
}

const hash = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()
