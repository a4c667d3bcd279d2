import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { proto } from 'baileys'
import { type KnownMedia, receivedKey } from '../network/chat.ts'
import { parseJid, pnJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import { notify } from '../network/notify.ts'
import type { Device, Phone } from '../network/phone.ts'
import { child, type Node, node } from '../wire/node.ts'

const { ResultType } = proto.MediaRetryNotification
/** The phone does not have the file either. */
const notOnPhone = '2'

/** A companion could not download a file of a message: its phone uploads the file again, and tells where. */
export function uploadAgain(network: Network, device: Device, receipt: Node): void {
  const { id = '' } = receipt.attrs
  const asked = child(receipt, 'rmr')
  const media = findMedia(device.phone, id, asked)
  const directPath = media && network.media.addAgain(media.directPath)
  const answer =
    media && directPath !== undefined
      ? node('encrypt', {}, seal({ stanzaId: id, directPath, result: ResultType.SUCCESS }, media.mediaKey))
      : node('error', { code: notOnPhone })
  const contents = asked ? [node('rmr', asked.attrs), answer] : [answer]
  notify(device, { from: pnJid(device.phone.number), type: 'mediaretry', id }, contents)
}

function findMedia({ chat }: Phone, id: string, asked: Node | undefined): KnownMedia | undefined {
  if (asked?.attrs.from_me === 'true') return chat.sent.get(id)?.media
  const from = parseJid(asked?.attrs.jid)?.number
  return from === undefined ? undefined : chat.received.get(receivedKey(from, id))?.media
}

/** So that only those who could read the message learn where its file is. */
function seal(found: proto.IMediaRetryNotification, mediaKey: Uint8Array): Node[] {
  const key = Buffer.from(hkdfSync('sha256', mediaKey, '', 'WhatsApp Media Retry Notification', 32))
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(found.stanzaId ?? ''))
  const plaintext = proto.MediaRetryNotification.encode(found).finish()
  const sealed = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  return [node('enc_p', {}, sealed), node('enc_iv', {}, iv)]
}
