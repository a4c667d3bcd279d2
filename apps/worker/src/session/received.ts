import { insertInboundMessage } from '@wagate/db/queries/outbox'
import { makeMessageId } from '@wagate/shared/ids'
import type { MessageType } from '@wagate/shared/statuses'
import { getContentType, isJidGroup, jidDecode, normalizeMessageContent, type WAMessage } from 'baileys'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'

type ReceivingDevice = { id: number; accountId: number; sender: string; linkGeneration: number; lease: Lease }

/** Stores a message that somebody wrote to this device. Groups and the device's own messages are left out. */
export async function storeReceived(
  { db, metrics }: Pick<DeviceContext, 'db' | 'metrics'>,
  device: ReceivingDevice,
  message: WAMessage,
): Promise<void> {
  const { id, fromMe, remoteJid, remoteJidAlt } = message.key
  const content = normalizeMessageContent(message.message)
  if (!id || fromMe || !remoteJid || isJidGroup(remoteJid) || !content) return
  const read = readContent(content)
  if (!read) return
  metrics.received.inc()
  await insertInboundMessage(db, device.lease, {
    id: makeMessageId(device.sender),
    accountId: device.accountId,
    deviceId: device.id,
    sender: device.sender,
    number: phoneOf(remoteJid, remoteJidAlt),
    ...read,
    waId: id,
    linkGeneration: device.linkGeneration,
  })
}

/** Of the two addresses of a contact, the one that is a phone number where WhatsApp tells it. */
function phoneOf(jid: string, alternative: string | undefined): string {
  const known = [jid, alternative].map((address) => jidDecode(address))
  return (known.find((address) => address?.server === 's.whatsapp.net') ?? known[0])?.user ?? jid
}

type Content = NonNullable<ReturnType<typeof normalizeMessageContent>>

/** Undefined for what is no message to people: keys, receipts of the protocol, reactions. */
function readContent(content: Content): { type: MessageType; body: string | null } | undefined {
  switch (getContentType(content)) {
    case 'conversation':
      return { type: 'text', body: content.conversation ?? null }
    case 'extendedTextMessage':
      return { type: 'text', body: content.extendedTextMessage?.text ?? null }
    case 'imageMessage':
      return { type: 'image', body: content.imageMessage?.caption ?? null }
    case 'videoMessage':
      return { type: 'video', body: content.videoMessage?.caption ?? null }
    case 'audioMessage':
      return { type: 'audio', body: null }
    case 'documentMessage':
      return { type: 'document', body: content.documentMessage?.caption ?? null }
    case 'protocolMessage':
    case 'reactionMessage':
    case 'senderKeyDistributionMessage':
    case undefined:
      return undefined
    default:
      return { type: 'other', body: null }
  }
}
