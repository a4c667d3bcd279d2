import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { proto } from 'baileys'
import { saltOf } from '../network/account-salt.ts'
import { lidJid, pnJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import type { Phone } from '../network/phone.ts'
import { lengthDelimited } from '../wire/protobuf.ts'
import { chatsOf, type Entry, pastOf } from './chat-history.ts'

/** The field of HistorySync with the salt of the account, which the protocol of Baileys lacks. */
const saltField = 19
const chunkMessagesMax = 4000

const { HistorySyncType } = proto.HistorySync
type SyncType = proto.HistorySync.HistorySyncType

/** A part of a history, packed. The numbers of the types are the same in its announcement. */
export type HistoryChunk = { syncType: SyncType; chunkOrder: number; progress: number; packed: Buffer }

/** What a phone sends to a new companion, in this order. Older messages only come to one that wants them. */
export async function* historyChunks(
  network: Network,
  phone: Phone,
  wantsFullHistory: boolean,
): AsyncGenerator<HistoryChunk> {
  yield await bootstrap(network, phone)
  if (!phone.past) return
  const { recent, older, names } = pastOf(phone.past)
  const pushnames = names.map(({ number, name }) => ({ id: pnJid(number), pushname: name }))
  yield await pack({ syncType: HistorySyncType.PUSH_NAME, chunkOrder: 1, progress: 100, pushnames })
  yield* messageChunks(HistorySyncType.RECENT, phone, recent)
  if (wantsFullHistory) yield* messageChunks(HistorySyncType.FULL, phone, older)
}

/** The newest chats, with the tokens that their contacts gave to the account, and the salt of the account. */
export function bootstrap(network: Network, phone: Phone): Promise<HistoryChunk> {
  const salt = network.faults.strike('salt_omit', phone.number)
    ? []
    : [lengthDelimited(saltField, saltOf(network, phone))]
  const history = {
    syncType: HistorySyncType.INITIAL_BOOTSTRAP,
    chunkOrder: 1,
    progress: 100,
    conversations: [...chatsOf(phone)].map(([number, entries]) => conversation(phone, number, entries)),
    phoneNumberToLidMappings: [{ pnJid: pnJid(phone.number), lidJid: lidJid(phone.number) }],
  }
  return pack(history, ...salt)
}

async function* messageChunks(
  syncType: SyncType,
  phone: Phone,
  entries: { number: string; entry: () => Entry }[],
): AsyncGenerator<HistoryChunk> {
  for (let from = 0; from < entries.length; from += chunkMessagesMax) {
    const chats = new Map<string, Entry[]>()
    for (const { number, entry } of entries.slice(from, from + chunkMessagesMax)) {
      const chat = chats.get(number) ?? []
      chat.push(entry())
      chats.set(number, chat)
    }
    const sent = Math.min(from + chunkMessagesMax, entries.length)
    yield await pack({
      syncType,
      chunkOrder: from / chunkMessagesMax + 1,
      progress: Math.floor((100 * sent) / entries.length),
      conversations: [...chats].map(([number, chat]) => conversation(phone, number, chat)),
    })
  }
}

const compress = promisify(deflate)

type Written = proto.IHistorySync & Omit<HistoryChunk, 'packed'>

async function pack(history: Written, ...unknownFields: Buffer[]): Promise<HistoryChunk> {
  const { syncType, chunkOrder, progress } = history
  const encoded = Buffer.concat([proto.HistorySync.encode(history).finish(), ...unknownFields])
  return { syncType, chunkOrder, progress, packed: await compress(encoded) }
}

function conversation({ newChats }: Phone, number: string, entries: Entry[]): proto.IConversation {
  const held = newChats.tokens.get(number)?.at(-1)
  const remoteJid = lidJid(number)
  return {
    id: remoteJid,
    pnJid: pnJid(number),
    conversationTimestamp: entries[0]?.at ?? 0,
    messages: entries.map(({ id, fromMe, at, message }) => ({
      message: { key: { remoteJid, fromMe, id }, message, messageTimestamp: at },
    })),
    ...(held && { tcToken: held.token, tcTokenTimestamp: held.issuedAt }),
  }
}
