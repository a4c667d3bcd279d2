import { proto } from 'baileys'
import { saltOf } from '../network/account-salt.ts'
import { lidJid, pnJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import type { Phone } from '../network/phone.ts'
import { lengthDelimited } from '../wire/protobuf.ts'

/** The field of HistorySync with the salt of the account, which the protocol of Baileys lacks. */
const saltField = 19
const chatsMax = 1000
const messagesMax = 20

/** The newest chats of a phone, with the tokens that their contacts gave to the account, and the salt of the account. */
export function encodeHistory(network: Network, phone: Phone): Buffer {
  const chats = [...newestMessages(phone)].slice(0, chatsMax)
  const history = proto.HistorySync.encode({
    syncType: proto.HistorySync.HistorySyncType.INITIAL_BOOTSTRAP,
    chunkOrder: 1,
    progress: 100,
    conversations: chats.map(([number, messages]) => conversation(phone, number, messages)),
    pushnames: [],
    phoneNumberToLidMappings: [{ pnJid: pnJid(phone.number), lidJid: lidJid(phone.number) }],
  }).finish()
  if (network.faults.strike('salt_omit', phone.number)) return Buffer.from(history)
  return Buffer.concat([history, lengthDelimited(saltField, saltOf(network, phone))])
}

type Entry = { id: string; fromMe: boolean; text: string | null; at: number }

/** Those of each chat, newest first. */
function newestMessages({ chat }: Phone): Map<string, Entry[]> {
  const chats = new Map<string, Entry[]>()
  const entries: (Entry & { with: string })[] = [
    ...[...chat.received.values()].map(({ message: { wa_message_id: id, from, text, received_at } }) => ({
      ...{ id, fromMe: false, text, at: Date.parse(received_at), with: from },
    })),
    ...[...chat.sent.values()].map(({ wa_message_id: id, to, text, sent_at }) => ({
      ...{ id, fromMe: true, text, at: Date.parse(sent_at), with: to },
    })),
  ]
  for (const { with: number, ...entry } of entries.sort((one, other) => other.at - one.at)) {
    const messages = chats.get(number) ?? []
    if (messages.length < messagesMax) chats.set(number, [...messages, entry])
  }
  return chats
}

function conversation({ standing }: Phone, number: string, messages: Entry[]): proto.IConversation {
  const held = standing.tokens.get(number)?.at(-1)
  const remoteJid = lidJid(number)
  return {
    id: remoteJid,
    pnJid: pnJid(number),
    conversationTimestamp: seconds(messages[0]),
    messages: messages.map((entry) => ({
      message: {
        key: { remoteJid, fromMe: entry.fromMe, id: entry.id },
        message: { conversation: entry.text ?? '' },
        messageTimestamp: seconds(entry),
      },
    })),
    ...(held && { tcToken: held.token, tcTokenTimestamp: held.issuedAt }),
  }
}

const seconds = (entry: Entry | undefined): number => Math.floor((entry?.at ?? 0) / 1000)
