import { randomBytes } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { encodeWAMessage, proto } from 'baileys'
import { sealFile } from '../handset/seal-file.ts'
import { encryptFor } from '../handset/signal.ts'
import { acknowledge, deliver, messageKey } from '../network/device.ts'
import { lidJid, pnJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import { type Device, makePhone, type Phone } from '../network/phone.ts'
import { node, nowSeconds } from '../wire/node.ts'
import { bootstrap, type HistoryChunk, historyChunks } from './history.ts'
import { appStateKey } from './seal-app-state.ts'

const inlineBytesMax = 64 * 1024

/**
 * The first messages of a phone to a new companion: the key of the app state and the history. A client that does not get
 * them delays all events for 20 s.
 */
export async function pushHistory(network: Network, device: Device): Promise<void> {
  // After an interrupted first login, pending peer messages would arrive as offline messages, too early for the client.
  for (const [key, stanza] of device.pending) {
    if (stanza.attrs.category === 'peer') acknowledge(device, key)
  }
  await sendToOwnCompanion(network, device, {
    type: proto.Message.ProtocolMessage.Type.APP_STATE_SYNC_KEY_SHARE,
    appStateSyncKeyShare: { keys: [sharedAppStateKey(device)] },
  })
  const { connection } = device
  for await (const chunk of historyChunks(network, device.phone, device.wantsFullHistory)) {
    // The next login has begun again from the first part.
    if (device.connection !== connection && !device.historyReceived) return
    await sendToOwnCompanion(network, device, {
      type: proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: announcementOf(network, device, chunk),
    })
  }
}

/** A small part comes with its announcement if the client reads that, any other as a file to download. */
function announcementOf(
  network: Network,
  { readsInlineHistory }: Device,
  { packed, ...chunk }: HistoryChunk,
): proto.Message.IHistorySyncNotification {
  if (readsInlineHistory && packed.length <= inlineBytesMax)
    return { ...chunk, initialHistBootstrapInlinePayload: packed }
  return { ...chunk, ...sealFile(network.media, 'md-msg-hist', packed) }
}

/** The content of a history notification: packed, or a file to download. */
export type HistoryOffer = {
  /** Sent by another companion of the account, which may be any linked program. */
  fromCompanion?: boolean
  /** The path on the media host of WhatsApp. */
  directPath?: string
  /** Sends this many zeros, compressed, instead. */
  inlineZeros?: number
  /** Its chats, as a file to download. */
  asFile?: boolean
}

/** Notifies the companions of a phone of history for them. */
export async function offerHistory(network: Network, phone: Phone, offer: HistoryOffer): Promise<void> {
  const { fromCompanion } = offer
  const content = await contentOf(network, phone, offer)
  const author = fromCompanion
    ? { phone: makePhone(phone.number), device: rogueDevice }
    : { phone, device: 0 }
  for (const device of phone.devices.values()) {
    const protocolMessage = {
      type: proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        syncType: proto.Message.HistorySyncType.INITIAL_BOOTSTRAP,
        chunkOrder: 1,
        progress: 100,
        ...content,
      },
    }
    await sendToOwnCompanion(network, device, protocolMessage, author)
  }
}

async function contentOf(
  network: Network,
  phone: Phone,
  { directPath, inlineZeros, asFile }: HistoryOffer,
): Promise<proto.Message.IHistorySyncNotification> {
  if (asFile) return sealFile(network.media, 'md-msg-hist', (await bootstrap(network, phone)).packed)
  if (inlineZeros) return { initialHistBootstrapInlinePayload: deflateSync(Buffer.alloc(inlineZeros)) }
  return { directPath: directPath ?? '', mediaKey: randomBytes(32), fileEncSha256: randomBytes(32) }
}

const rogueDevice = 77

async function sendToOwnCompanion(
  network: Network,
  device: Device,
  protocolMessage: proto.Message.IProtocolMessage,
  author = { phone: device.phone, device: 0 },
): Promise<void> {
  const { phone } = device
  const padded = Buffer.from(encodeWAMessage({ protocolMessage }))
  const { type, body } = await encryptFor(author.phone, device, padded)
  if (!phone.devices.has(device.id)) return
  const id = `3EB0${randomBytes(9).toString('hex').toUpperCase()}`
  const stanza = node(
    'message',
    {
      from: pnJid(phone.number, author.device),
      id,
      t: nowSeconds(),
      type: 'text',
      category: 'peer',
      peer_recipient_lid: lidJid(phone.number),
    },
    [node('enc', { v: '2', type }, body)],
  )
  deliver(device, messageKey(id), stanza)
  network.state.sessionsChanged(phone)
}

function sharedAppStateKey({ id, phone }: Device): proto.Message.IAppStateSyncKey {
  const key = appStateKey(phone)
  return {
    keyId: { keyId: key.id },
    keyData: {
      keyData: key.data,
      fingerprint: { rawId: phone.registrationId, currentIndex: 0, deviceIndexes: [0, id] },
      timestamp: Date.now(),
    },
  }
}
