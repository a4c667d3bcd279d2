import { contactDays } from '@wagate/db/queries/contacts/contacts'
import { historyChatType } from '@wagate/db/queries/credentials/device-auth'
import { lidKey } from '@wagate/shared/contact-key'
import { isLidUser, isPnUser, jidDecode, type SignalKeyStore } from 'baileys'
import type { AuthStore } from '../credentials/auth-store.ts'
import type { History } from './on-history.ts'

type Chat = History['chats'][number]

const chatsMax = 5000
const chatsAtOnceMax = 1000

/**
 * Stores the keys of the people who have recently written to the account, according to the history of its phone: WhatsApp
 * accepts messages to them during a restriction.
 */
export async function noteKnownChats(
  chats: Chat[],
  { keys, writeOwn }: Pick<AuthStore, 'keys' | 'writeOwn'>,
): Promise<void> {
  const sinceSeconds = Date.now() / 1000 - contactDays * 86_400
  const known = chats
    .map((chat) => ({ chat, at: lastReceivedAt(chat) }))
    .filter(({ at }) => at > sinceSeconds)
    .sort((one, other) => other.at - one.at)
    .slice(0, chatsMax)
  for (let from = 0; from < known.length; from += chatsAtOnceMax) {
    const part = known.slice(from, from + chatsAtOnceMax)
    const contactKeys = await keysOf(
      part.map(({ chat }) => chat),
      keys,
    )
    const values = part.flatMap(({ at }, index) => {
      const key = contactKeys[index]
      return key ? [[key, at] as const] : []
    })
    if (values.length > 0) await writeOwn(historyChatType, new Map(values))
  }
}

/** In seconds. 0 if the history has no message of the contact: a chat in which only the account wrote may be refused. */
function lastReceivedAt({ lastMessageRecvTimestamp, unreadCount, conversationTimestamp }: Chat): number {
  if (lastMessageRecvTimestamp) return lastMessageRecvTimestamp
  return (unreadCount ?? 0) > 0 ? Number(conversationTimestamp ?? 0) : 0
}

/** The key of the contact of each chat, if it is one with a person. */
async function keysOf(chats: Chat[], keys: SignalKeyStore): Promise<(string | undefined)[]> {
  const users = chats.map(({ id, pnJid }) => ({
    number: [id, pnJid].flatMap((jid) => (jid && isPnUser(jid) ? jidDecode(jid)?.user : undefined) ?? [])[0],
    lid: id && isLidUser(id) ? jidDecode(id)?.user : undefined,
  }))
  const unknown = users.flatMap(({ number, lid }) => (!number && lid ? [`${lid}_reverse`] : []))
  const mapped = unknown.length > 0 ? await keys.get('lid-mapping', unknown) : {}
  return users.map(({ number, lid }) => number ?? (lid && (mapped[`${lid}_reverse`] ?? lidKey(lid))))
}
