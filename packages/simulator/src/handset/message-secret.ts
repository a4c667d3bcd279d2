import { createCipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { proto, unpadRandomMax16 } from 'baileys'
import { pnJid } from '../network/jid.ts'
import { type Network, phoneOf } from '../network/network.ts'
import type { Phone } from '../network/phone.ts'
import { SimulatorError } from '../network/simulator-error.ts'

type Sealed = { encPayload: Buffer; encIv: Buffer }

/** A chat of a phone, and a message in it. */
export type MessageOf = { network: Network; phone: Phone; to: string; id: string }

/** The options of the poll by their hashes, as a phone encrypts them. */
export function sealVote(of: MessageOf, options: string[]): Sealed {
  const selectedOptions = options.map((option) => createHash('sha256').update(option).digest())
  return seal('Poll Vote', of, proto.Message.PollVoteMessage.encode({ selectedOptions }).finish())
}

/** A whole `Message` that edits another. */
export function sealEdit(of: MessageOf, edit: proto.IMessage): Sealed {
  return seal('Message Edit', of, proto.Message.encode(edit).finish())
}

/** The key is made from the secret of the message, its author and who encrypts. */
function seal(use: 'Poll Vote' | 'Message Edit', of: MessageOf, plaintext: Uint8Array): Sealed {
  const { phone, to, id } = of
  const sender = pnJid(phone.number)
  const author = pnJid(phone.chat.sent.has(id) ? phone.number : to)
  const key = hkdfSync('sha256', secretOf(of), Buffer.alloc(0), `${id}${author}${sender}${use}`, 32)
  const encIv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key), encIv)
  if (use === 'Poll Vote') cipher.setAAD(Buffer.from(`${id}\0${sender}`))
  const encPayload = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  return { encPayload, encIv }
}

/** Only messages of handsets are kept with their secret. */
function secretOf({ network, phone, to, id }: MessageOf): Uint8Array {
  const sent = phone.chat.sent.get(id) ?? phoneOf(network, to).chat.sent.get(id)
  const message = sent?.plaintext && proto.Message.decode(unpadRandomMax16(sent.plaintext))
  const secret = message?.messageContextInfo?.messageSecret
  if (!secret?.length) throw new SimulatorError(`${id} is no message of a phone that has a secret.`)
  return secret
}
