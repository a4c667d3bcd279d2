import { createDecipheriv, hkdfSync } from 'node:crypto'

/** What a contact encrypts with the secret of another message, as it is named in the key. */
export type SecretUse = 'Poll Vote' | 'Message Edit'

export type SealedContent = { encPayload?: Uint8Array | null; encIv?: Uint8Array | null }

/** Authors and senders: the addresses under which the contact may know them, since it names only one of them. */
export type SecretOrigin = {
  secret: Buffer
  /** Of the message that the secret belongs to. */
  waId: string
  authors: readonly string[]
  senders: readonly string[]
}

const tagBytes = 16

/** Undefined for what is not encrypted with this secret, by one of the senders. */
export function openWithSecret(
  use: SecretUse,
  { encPayload, encIv }: SealedContent,
  { secret, waId, authors, senders }: SecretOrigin,
): Buffer | undefined {
  if (!encPayload || encPayload.length < tagBytes || encIv?.length !== 12) return undefined
  for (const author of authors) {
    for (const sender of senders) {
      const key = hkdfSync('sha256', secret, Buffer.alloc(0), `${waId}${author}${sender}${use}`, 32)
      const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key), encIv)
      if (use === 'Poll Vote') decipher.setAAD(Buffer.from(`${waId}\0${sender}`))
      decipher.setAuthTag(encPayload.subarray(-tagBytes))
      try {
        return Buffer.concat([decipher.update(encPayload.subarray(0, -tagBytes)), decipher.final()])
      } catch {
        // Another pair of addresses.
      }
    }
  }
  return undefined
}
